"""What an answer lacks, or why it failed, as lines for people: the rules one below the other, down to the end.

An answer without ways, and one whose ways are gone, are told alike.
"""

from __future__ import annotations

from dataclasses import replace

from presage.evidence.lacking import FailingPart, Lack
from presage.explanations.outline import Outline, Sign
from presage.explanations.words import Printer
from presage.model.formulas import Comparison


def first_words(printer: Printer, lack: Lack) -> str | None:
    """What is missing first, or failed first, in words."""
    if not lack.chain:
        return None
    last = last_words(printer, lack)
    if not isinstance(lack.literal, Comparison):
        return last
    about = [printer.part_text(each) for each in lack.met]
    if len(lack.chain) > 1:
        before = lack.parts[-2]
        about.insert(0, printer.missing_text(lack.chain[-2]) if before is None else printer.part_text(before))
    if not about:
        return last
    return f"{about[0]}, where {last} is not so" + (f" of {' and '.join(about[1:])}" if about[1:] else "")


def last_words(printer: Printer, lack: Lack) -> str:
    """What stands at the end of a chain."""
    part = lack.parts[-1] if lack.parts else None
    return printer.missing_text(lack.chain[-1]) if part is None else printer.part_text(part)


def chain_outline(printer: Printer, lack: Lack, last: Outline) -> tuple[Outline, ...]:
    """The reasons one below the other, each with its rule, and within its premise what is not so."""
    verb = "fails" if last.sign is Sign.FAILED else "is missing"
    below: tuple[Outline, ...] = tuple(
        Outline(printer.part_text(each), "is there", Sign.THERE, printer.part_subject(each), each.when)
        for each in lack.met
    )
    for depth, (each, part) in enumerate(zip(reversed(lack.chain), reversed(lack.parts), strict=True)):
        reason = f"{verb}, in {printer.by(each.rule, each.instance)}"
        whole = Outline(printer.missing_text(each), reason)
        if depth > 0:
            within = below if part is None else (Outline(printer.part_text(part), verb, below=below),)
            below = (replace(whole, below=within),)
        elif part is None:
            told = f"{last.reason}, {reason.removeprefix('fails, ')}" if last.reason else reason
            below = (replace(last, reason=told, below=(*last.below, *below)),)
        else:
            below = (replace(whole, below=(_part(printer, part, last),)),)
    return below


def _part(printer: Printer, part: FailingPart, last: Outline) -> Outline:
    """What within the last premise is not so."""
    if part.denied:
        reason = "it is there"
    elif part.nowhere:
        reason = "at none of these times"
    else:
        reason = "is not there" if last.sign is Sign.FAILED else "is missing"
    about = printer.part_subject(part)
    return Outline(printer.part_text(part), reason, last.sign, about, part.when, last.until)


def last_outline(printer: Printer, lack: Lack, failed: bool) -> Outline:
    """What is missing at the end of a chain."""
    assert lack.literal is not None
    negative = lack.is_denied
    sign = Sign.FAILED if failed else Sign.UNSETTLED if negative else Sign.MISSING
    end = lack.chain[-1]
    until = None if failed else lack.until
    return Outline(printer.missing_text(end), "", sign, printer.missing_subject(end), end.when, until)
