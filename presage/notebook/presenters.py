"""Who shows what in a notebook. Imported when something is shown for the first time."""

from __future__ import annotations

from presage.answers import Answer, Answers
from presage.checking import Report
from presage.explanations.result import Explanation
from presage.model.program import Program
from presage.notebook.answers import answers_html
from presage.notebook.explanations import explanation_html
from presage.notebook.programs import program_html, report_html
from presage.notebook.reasoners import reasoner_html
from presage.run.reasoner import Reasoner
from presage.showing import register


def register_all() -> None:
    register(Answer, lambda answer: answers_html([answer]))
    register(Answers, answers_html)
    register(Program, program_html)
    register(Report, report_html)
    register(Reasoner, reasoner_html)
    register(Explanation, explanation_html)
