"""How far away: a range of distances between two times, in which the past is negative."""

from __future__ import annotations

from dataclasses import dataclass

from presage.model.terms import Number, number


@dataclass(frozen=True, slots=True)
class Reach:
    """Distances from a time: from `near` to `far`; `None` is infinity, with the sign of the bound. On the discrete
    timeline both ends are whole numbers and belong to it."""

    near: Number | None
    far: Number | None
    open_near: bool = False
    open_far: bool = False

    def __add__(self, other: Reach) -> Reach:
        near = None if self.near is None or other.near is None else self.near + other.near
        far = None if self.far is None or other.far is None else self.far + other.far
        return Reach(near, far, self.open_near or other.open_near, self.open_far or other.open_far)

    @property
    def is_nothing(self) -> bool:
        """Whether it leads nowhere else."""
        return self.near == 0 and self.far == 0

    @property
    def is_empty(self) -> bool:
        """Whether it holds no distance at all."""
        if self.near is None or self.far is None:
            return False
        return self.near > self.far or (self.near == self.far and (self.open_near or self.open_far))

    @property
    def step(self) -> Number | None:
        """The one distance that it holds, if it holds one."""
        return self.near if self.near is not None and self.near == self.far and not self.is_empty else None

    @property
    def is_past(self) -> bool:
        """Whether it lies in the past, or here: `once` and `since` rather than `eventually` and `until`."""
        return self.far is not None and self.far <= 0

    @property
    def farthest(self) -> Number | None:
        """How far away its farther end is, on either side."""
        if self.near is None or self.far is None:
            return None
        return max(self.near, -self.near, self.far, -self.far)

    def mirrored(self) -> Reach:
        """The same distances the other way."""
        near = None if self.far is None else number(-self.far)
        far = None if self.near is None else number(-self.near)
        return Reach(near, far, self.open_far, self.open_near)


HERE = Reach(0, 0)
EVERYWHERE = Reach(None, None)
