"""What is raised where an estimator is asked before it was fitted: also scikit-learn's error, for whoever uses that.

scikit-learn is not imported for it. Who has not imported it cannot be waiting for its error.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

__all__ = ["NotFittedError", "not_fitted"]


class NotFittedError(ValueError, AttributeError):
    """The estimator has not been fitted; an instance of ``sklearn.exceptions.NotFittedError`` too where scikit-learn is in use."""


@functools.cache
def _both() -> type[NotFittedError]:
    from sklearn.exceptions import NotFittedError as Theirs

    def reduce(self: Any) -> Any:
        return not_fitted, self.args

    kind: type[NotFittedError] = type("NotFittedError", (NotFittedError, Theirs), {"__reduce__": reduce, "__module__": __name__})
    return kind


def not_fitted(message: str) -> NotFittedError:
    """The error to raise."""
    return (_both() if "sklearn" in sys.modules else NotFittedError)(message)
