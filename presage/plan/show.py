"""A plan as text: a line for each node."""

from __future__ import annotations

from presage.core.printer import show_reach, signed
from presage.model.formulas import Atom
from presage.model.printer import show_atom, show_formula, show_number, show_window
from presage.plan.nodes import (
    AtLeast,
    Collect,
    Dilate,
    Erode,
    Hop,
    Invent,
    Join,
    LastRows,
    Literal,
    PlanNode,
    SinceNode,
    Stamp,
    WithinNode,
)


def show_node(node: PlanNode) -> str:
    """One node, such as `cool(X) at 1 := flag(X), flag(X) at 1`; a time is a distance from the rule's own."""
    match node:
        case Join():
            return _join(node)
        case Dilate(head=head, source=source, reach=reach):
            return f"{head} := {source} held at some time of {show_reach(reach)}"
        case Erode(head=head, source=source, reach=reach, clipped=clipped):
            of_stream = " from the start on" if clipped else ""
            return f"{head} := {source} held at all times of {show_reach(reach)}{of_stream}"
        case Hop(head=head, source=source, period=period):
            return f"{head} := {source} at the last multiple of {period}"
        case Invent(head=head, source=source, count=count, timed=timed):
            values = "a new value" if count == 1 else f"{count} new values"
            return f"{head} := {source} with {values} for each tuple{' and time' if timed else ''}"
        case Stamp(head=head, source=source):
            return f"{head} := {source} with its time"
        case WithinNode(head=head, source=source, reach=reach, bounds=bounds, columns=columns):
            also = "".join(f", and {show_reach(each)} from column {column + 1}" for column, each in bounds)
            some = (
                "" if columns is None else f", columns {', '.join(str(each + 1) for each in columns) or 'none'} of it"
            )
            return f"{head} := {source} held at some time of {show_reach(reach)}{also}{some}"
        case AtLeast(head=head, source=source, groups=groups, least=least):
            return f"{head} := at least {least} of {source}{_sliding(node)} by {_columns(groups)}"
        case Collect(head=head, source=source, groups=groups, functions=functions):
            return f"{head} := {', '.join(functions)} of {source}{_sliding(node)} by {_columns(groups)}"
        case LastRows(head=head, source=source, window=window, shows=shows):
            return f"{head} := {source} in {show_window(window)}, {shows.value}"
        case SinceNode(head=head, left=left, right=right, reach=reach, ahead=ahead):
            return f"{head} := {left} {'until' if ahead else 'since'} {right}, {show_reach(reach)}"


def _sliding(node: AtLeast | Collect) -> str:
    if node.slides is None:
        return ""
    hopping = "" if node.hop is None else f" before the last multiple of {node.hop}"
    return f" with its time at some time of {show_reach(node.slides)}{hopping}"


def _columns(count: int) -> str:
    return "nothing" if not count else "its first column" if count == 1 else f"its first {count} columns"


def _join(node: Join) -> str:
    head = show_atom(Atom(node.head, node.arguments))
    if node.head_at is not None:
        head += f" at time {show_number(node.head_at)}"
    elif not node.head_reach.is_nothing:
        step = node.head_reach.step
        head += f" over {show_reach(node.head_reach)}" if step is None else f" at {signed(step)}"
    body = [
        *map(_literal, node.literals),
        *(f"{'still' if each.still else 'not'} {_literal(each)}" for each in node.negated),
    ]
    return f"{head} := {', '.join([*body, *map(show_formula, node.comparisons)])}"


def _literal(literal: Literal) -> str:
    atom = show_atom(Atom(literal.relation, literal.arguments))
    if literal.at is not None:
        return f"{atom} at time {show_number(literal.at)}"
    return f"{atom} at {signed(literal.offset)}" if literal.offset else atom
