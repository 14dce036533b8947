"""Courses: what happens to many individuals alike is worked out once.

The engine over zones (`hypothesis/ranges`) works out one step of one individual with symbols in place of its times and
values, and every comparison on the way is noted: what came of it holds for all individuals of which the same
comparisons are true. So a step becomes a transition of an automaton with clocks, made when it is first needed and
looked up from then on, by columns.
"""
