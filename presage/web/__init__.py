"""The live page: a replay of a run, paced for people, and a local server that shows it in a browser.

`board` is what stands about every answer, `replay` moves it through time and remembers how it was, `details` says
more about one answer, `server` is what the page in `page/` talks to.
"""
