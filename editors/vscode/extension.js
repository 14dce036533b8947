// Starts `presage lsp` and hands it to VS Code's client; everything that is known about programs is on that side.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function activate() {
  const command = workspace.getConfiguration("presage").get("command") || "presage";
  const server = { command, args: ["lsp"], transport: TransportKind.stdio };
  const options = { documentSelector: [{ language: "presage" }] };
  client = new LanguageClient("presage", "Presage", server, options);
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
