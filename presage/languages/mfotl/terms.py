"""What terms and aggregates of MonPoly's formulas are worth, and whether comparisons hold."""

from __future__ import annotations

from fractions import Fraction

from presage.languages.conditions import compared
from presage.languages.mfotl.formulas import Compare, LogConstant, LogTerm, LogVariable
from presage.languages.mfotl.text_functions import CONVERSIONS
from presage.model.aggregating import rank
from presage.model.terms import Value, number


def holds(condition: Compare, known: dict[str, Value]) -> bool:
    left, right = term_value(condition.left, known), term_value(condition.right, known)
    if condition.operator == "SUBSTRING":
        return isinstance(left, str) and isinstance(right, str) and left in right
    return left is not None and right is not None and compared(condition.operator, left, right)


def term_value(term: LogTerm, known: dict[str, Value]) -> Value | None:
    """Numbers as MonPoly has them: `/` and `MOD` of whole numbers cut off towards 0."""
    if isinstance(term, LogVariable):
        return known.get(term.name)
    if isinstance(term, LogConstant):
        return term.value
    values = [term_value(each, known) for each in term.terms]
    if term.operator in CONVERSIONS:
        return None if values[0] is None else CONVERSIONS[term.operator](values[0])
    if any(each is None or isinstance(each, str) for each in values):
        return None
    numbers = [Fraction(each) for each in values if each is not None]
    whole = all(isinstance(each, int) for each in values)
    first, last = numbers[0], numbers[-1]
    match term.operator:
        case "+":
            return number(first + last)
        case "-":
            return number(first - last)
        case "*":
            return number(first * last)
        case "/":
            return None if last == 0 else int(first / last) if whole else number(first / last)
        case "/.":
            return None if last == 0 else number(first / last)
        case "MOD":
            return None if last == 0 or not whole else int(first - last * int(first / last))
        case "f2i":
            return int(first)
        case _:
            return number(first)


def aggregated(function: str, values: list[Value]) -> Value | None:
    if function == "CNT":
        return len(values)
    if function == "MIN":
        return min(values, key=rank)
    if function == "MAX":
        return max(values, key=rank)
    numbers = [each for each in values if not isinstance(each, str)]
    if len(numbers) < len(values):
        return None
    if function == "SUM":
        return number(sum(numbers, Fraction(0)))
    if function == "AVG":
        return number(Fraction(sum(numbers, Fraction(0))) / len(numbers))
    numbers.sort()
    middle = len(numbers) // 2
    return numbers[middle] if len(numbers) % 2 else number(Fraction(numbers[middle - 1] + numbers[middle]) / 2)
