"""Types of the native module. Shapes stand in the docstrings of the functions themselves."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Columns = list[tuple[str, Any]]

__version__: str

class NativeStudy:
    @staticmethod
    def from_tables(
        settings: str,
        arms: tuple[int, _Columns],
        trajectories: tuple[int, _Columns],
        truth: tuple[int, _Columns] | None,
    ) -> NativeStudy: ...
    @staticmethod
    def read(folder: str) -> NativeStudy: ...
    def write(self, folder: str, format: str, replace: bool) -> None: ...
    def tables(self) -> tuple[_Columns, _Columns, _Columns | None]: ...
    def settings(self) -> dict[str, Any]: ...
    def instances(self) -> list[tuple[str, int, int, int]]: ...
    def features(self) -> list[str]: ...
    @property
    def fingerprint(self) -> str: ...

class NativeModel:
    @staticmethod
    def load(folder: str) -> NativeModel: ...
    def save(self, folder: str, replace: bool) -> None: ...
    def card(self) -> list[str]: ...
    def predict(self, study: NativeStudy) -> list[NDArray[np.float64]]: ...
    def score(self, study: NativeStudy, part: str) -> float: ...
    def plan(
        self,
        study: NativeStudy,
        budget: int | None,
        history: bool,
        only_beneficial: bool,
        index_discount: float | None,
        seed: int,
    ) -> tuple[_Columns, dict[str, Any]]: ...

def train(
    study: NativeStudy, asked: dict[str, Any], visit: Callable[[float, str], Any] | None
) -> tuple[NativeModel, list[str]]: ...
