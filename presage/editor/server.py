"""The language server: what an editor asks over its protocol, answered from the document as it stands.

Places are offsets inside and lines with columns outside; only this module knows both.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument

import presage
from presage.editor.document import PARAMETER, VARIABLE, Document, Word
from presage.editor.fixes import fixes
from presage.editor.meaning import KEYWORDS, hover
from presage.errors import Diagnostic, PresageError, Span
from presage.layout import format_text
from presage.model.functions import FUNCTIONS
from presage.model.statements import Param
from presage.syntax import AGGREGATES, ASKING, COLUMN_TYPES, STATEMENTS, is_keyword, starts_like_a_variable

SERVER_NAME = "presage"


class Documents:
    """The open documents, each looked at once for each version."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self._seen: dict[str, tuple[str, Document]] = {}

    def text(self, uri: str) -> TextDocument:
        return self.server.workspace.get_text_document(uri)

    def document(self, uri: str) -> Document:
        text = self.text(uri).source
        kept = self._seen.get(uri)
        if kept is not None and kept[0] == text:
            return kept[1]
        found = Document(text.removeprefix("\ufeff"), _path(uri))
        self._seen[uri] = text, found
        return found

    def forget(self, uri: str) -> None:
        self._seen.pop(uri, None)

    def offset(self, uri: str, position: lsp.Position) -> int:
        text = self.text(uri)
        return text.offset_at_position(position) - text.source.startswith("\ufeff")

    def range(self, uri: str, span: Span) -> lsp.Range:
        """A stretch of one file, whose offsets begin with the file."""
        text = self.text(uri)
        shift = int(text.source.startswith("\ufeff"))
        limit = len(text.source)
        start, end = (min(max(0, each + shift), limit) for each in (span.start, max(span.end, span.start)))
        return lsp.Range(_position(text, start), _position(text, end))

    def location(self, uri: str, document: Document, span: Span) -> lsp.Location:
        """A stretch of the program or of a file it includes."""
        begin = 0
        for part in document.source.included:
            if part.start <= span.start:
                begin = part.start
        if not begin:
            return lsp.Location(uri, self.range(uri, span))
        path = Path(document.source.file(span.start))
        other = from_fs_path(str(path if path.is_absolute() else path.resolve())) or uri
        return lsp.Location(other, self.range(other, Span(span.start - begin, span.end - begin)))


def _path(uri: str) -> Path:
    """Where a document is, or would be: one that is not saved yet is a program all the same."""
    found = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(found) if found else Path("untitled.psg")


def _position(text: TextDocument, offset: int) -> lsp.Position:
    """Lines and columns as the editor counts them."""
    before = text.source[:offset]
    line = before.count("\n")
    column = before[before.rfind("\n") + 1 :]
    return text.position_codec.position_to_client_units(
        text.source.splitlines(keepends=True) or [""], lsp.Position(line, len(column))
    )


def make_server() -> LanguageServer:
    server = LanguageServer(SERVER_NAME, presage.__version__)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_news)
    open_documents = Documents(server)

    def publish(uri: str) -> None:
        try:
            document = open_documents.document(uri)
            found = [_diagnostic(open_documents, uri, document, each) for each in document.problems]
        except PresageError as problem:
            # Such as a language whose reader is not installed.
            whole = open_documents.range(uri, Span(0, 1))
            found = [lsp.Diagnostic(whole, str(problem), lsp.DiagnosticSeverity.Error, source=SERVER_NAME)]
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        publish(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        publish(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        # What others include may have changed with it.
        for uri in list(server.workspace.text_documents):
            open_documents.forget(uri)
            publish(uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        open_documents.forget(params.text_document.uri)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))

    def word_of(uri: str, position: lsp.Position) -> tuple[Document, Word | None]:
        document = open_documents.document(uri)
        if not document.is_presage:
            return document, None
        return document, document.word_at(open_documents.offset(uri, position))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        document, word = word_of(uri, params.position)
        text = hover(document, word) if word is not None else ""
        if word is None or not text:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), open_documents.range(uri, word.span))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(params: lsp.DefinitionParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        document, word = word_of(uri, params.position)
        found = [] if word is None else document.definitions(word)
        return [open_documents.location(uri, document, each.span) for each in found]

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def referred(params: lsp.ReferenceParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        document, word = word_of(uri, params.position)
        found = [] if word is None else document.same(word)
        wanted = [each for each in found if params.context.include_declaration or not each.defines]
        return [open_documents.location(uri, document, each.span) for each in wanted]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def may_rename(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        uri = params.text_document.uri
        document, word = word_of(uri, params.position)
        return open_documents.range(uri, word.span) if word is not None and document.same(word) else None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        uri = params.text_document.uri
        document, word = word_of(uri, params.position)
        if word is None or not document.same(word):
            return None
        name = _checked_name(document, word, params.new_name)
        edits: dict[str, list[lsp.TextEdit]] = {}
        for each in document.same(word):
            place = open_documents.location(uri, document, each.span)
            edits.setdefault(place.uri, []).append(lsp.TextEdit(place.range, name))
        return lsp.WorkspaceEdit(changes=edits)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def laid_out(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        uri = params.text_document.uri
        document = open_documents.document(uri)
        if not document.is_presage:
            return []
        try:
            text = format_text(document.text, str(document.path))
        except PresageError:
            return []  # the messages say why
        whole = open_documents.range(uri, Span(0, len(document.text)))
        return [] if text == document.text else [lsp.TextEdit(whole, text)]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def fixed(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        document = open_documents.document(uri)
        first, last = open_documents.offset(uri, params.range.start), open_documents.offset(uri, params.range.end)
        found = []
        for problem in document.problems if document.is_presage else ():
            if problem.span.start > last or problem.span.end < first:
                continue
            for fix in fixes(document, problem):
                edit = lsp.TextEdit(open_documents.range(uri, fix.span), fix.text)
                found.append(
                    lsp.CodeAction(
                        fix.title,
                        lsp.CodeActionKind.QuickFix,
                        diagnostics=[_diagnostic(open_documents, uri, document, problem)],
                        edit=lsp.WorkspaceEdit(changes={uri: [edit]}),
                    )
                )
        return found

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outlined(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        uri = params.text_document.uri
        document = open_documents.document(uri)
        found = []
        for entry in document.outline() if document.is_presage else ():
            kind = lsp.SymbolKind.Function if entry.is_rule else lsp.SymbolKind.Interface
            where = open_documents.range(uri, entry.span)
            found.append(lsp.DocumentSymbol(entry.name, kind, where, where, entry.detail))
        return found

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["$"]))
    def completed(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        uri = params.text_document.uri
        document = open_documents.document(uri)
        return _completions(document, open_documents.offset(uri, params.position)) if document.is_presage else []

    return server


def _diagnostic(open_documents: Documents, uri: str, document: Document, problem: Diagnostic) -> lsp.Diagnostic:
    own = len(document.source.own_text)
    span, message = problem.span, problem.message
    if span.start > own:
        message = f"{document.source.where(span.start)}: {message}"
        span = _included_by(document, document.source.file(span.start))
    notes = [
        lsp.DiagnosticRelatedInformation(open_documents.location(uri, document, note.span), note.message)
        for note in problem.notes
        if note.span.start >= 0
    ]
    return lsp.Diagnostic(
        open_documents.range(uri, span),
        f"{message}\n{problem.hint}" if problem.hint else message,
        lsp.DiagnosticSeverity.Error if problem.severity == "error" else lsp.DiagnosticSeverity.Warning,
        problem.code,
        source=SERVER_NAME,
        related_information=notes or None,
    )


def _included_by(document: Document, file: str) -> Span:
    """The statement that includes a file, for what is wrong in there."""
    for found in re.finditer(r'include\s+"([^"\n]+)"', document.source.own_text):
        if Path(found[1]).name == Path(file).name:
            return Span(*found.span())
    return Span(0, 1)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a log should have it: what an editor is told anyhow needs no traceback there."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))


def _refusal(message: str) -> JsonRpcException:
    """What an editor shows as the reason why something is not done."""
    return JsonRpcException(message, lsp.LSPErrorCodes.RequestFailed)


def _checked_name(document: Document, word: Word, name: str) -> str:
    wanted = name.strip().removeprefix("$") if word.kind == PARAMETER else name.strip()
    if not wanted.isidentifier() or is_keyword(wanted):
        raise _refusal(f"`{wanted}` cannot be a name: it is reserved, or has signs that names do not have")
    if word.kind == VARIABLE and not starts_like_a_variable(wanted):
        raise _refusal(f"variables begin with a capital letter or `_`, and `{wanted}` does not")
    others = document.words if word.kind != VARIABLE else _beside(document, word)
    if wanted != word.name and any(each.kind == word.kind and each.name == wanted for each in others):
        raise _refusal(f"there is a {word.kind} `{wanted}` already: the two would become one")
    return wanted


def _beside(document: Document, word: Word) -> list[Word]:
    inside = document.statement_at(word.span.start)
    return [each for each in document.words if inside.start <= each.span.start < inside.end]


def _completions(document: Document, offset: int) -> list[lsp.CompletionItem]:
    """Parameters behind `$`; otherwise what may stand here: the words that begin a statement where one begins, and
    predicates, the statement's variables, operators and functions elsewhere."""
    text = document.source.own_text[:offset]
    params = [each.name for each in document.report.program.each(Param)]
    if re.search(r"\$\w*$", text):
        return [_item(name, lsp.CompletionItemKind.Constant, "a parameter") for name in params]
    inside = document.statement_at(max(0, offset - 1))
    before = re.sub(r"[%#][^\n]*", "", text[inside.start :])
    begins = not re.sub(r"\w*$", "", before).strip()
    found = []
    for name, known in sorted(document.report.predicates.items()):
        if "#" not in name:
            columns = ", ".join(column.name for column in known.columns) or ", ".join("_" * known.arity)
            shown = f"{known.kind} {name}({columns})" if known.arity else f"{known.kind} {name}"
            found.append(_item(name, lsp.CompletionItemKind.Function, shown))
    if begins:
        for name in (*STATEMENTS, "param", "include", "exists"):
            found.append(_item(name, lsp.CompletionItemKind.Keyword, KEYWORDS.get(name, "")))
        return found
    if re.match(r"\s*(input|static)\b", before) and re.search(r":\s*\w*$", before):
        return [_item(name, lsp.CompletionItemKind.TypeParameter, "a type") for name in COLUMN_TYPES]
    here = [each for each in document.words if inside.start <= each.span.start < inside.end]
    for name in sorted({each.name for each in here if each.kind == VARIABLE and each.span.end != offset} - {"_"}):
        found.append(_item(name, lsp.CompletionItemKind.Variable, "a variable of this statement"))
    for name in sorted(set(KEYWORDS) - set(STATEMENTS)):
        found.append(_item(name, lsp.CompletionItemKind.Keyword, KEYWORDS[name]))
    for name in sorted({*FUNCTIONS, *ASKING}):
        found.append(_item(name, lsp.CompletionItemKind.Method, "a function"))
    for name in AGGREGATES:
        found.append(_item(name, lsp.CompletionItemKind.Method, f"an aggregate: {name} {{ … : … }}"))
    return found


def _item(name: str, kind: lsp.CompletionItemKind, detail: str) -> lsp.CompletionItem:
    return lsp.CompletionItem(name, kind=kind, detail=detail)
