"""OBP's ``bandit_feedback``: every decision of every arm is a round with two actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from restive._instances import Instance
from restive.convert._episodes import Episode, State, dealt, episodes, numbers, part, whole
from restive.convert._episodes import instance as made

__all__ = ["from_obp", "to_obp"]


def to_obp(instance: Instance) -> dict[str, Any]:
    """The log as OBP's ``bandit_feedback``: a dictionary, for which OBP is not needed.

    A round is a decision of an arm, trajectory by trajectory and arm by arm; ``context`` is what is known before it, ``pscore`` the propensity of
    the logged action. ``restive`` has what a round does not: ``trajectory``, ``step`` and ``arm``, and what was observed afterwards. With one
    decision per trajectory OBP's self-normalised estimate of an arm is its part of :func:`restive.cwpdis`.
    """
    found = episodes(instance, needs_propensity=True)
    action, pscore = (np.concatenate([getattr(one, name) for one in found]) for name in ("action", "propensity"))
    behaviour = np.where(action[:, None] == np.arange(2), pscore[:, None], 1.0 - pscore[:, None])
    return {
        "n_rounds": len(action),
        "n_actions": 2,
        "context": np.concatenate([one.observations[:-1] for one in found]),
        "action_context": np.eye(2),
        "action": action,
        "position": None,
        "reward": np.concatenate([one.reward for one in found]),
        "expected_reward": None,
        "pi_b": behaviour[:, :, None],
        "pscore": pscore,
        "restive": {
            "trajectory": np.concatenate([np.full(len(one.action), one.trajectory) for one in found]),
            "step": np.concatenate([one.first + np.arange(len(one.action)) for one in found]),
            "arm": np.concatenate([np.full(len(one.action), one.arm) for one in found]),
            "after": np.concatenate([one.observations[1:] for one in found]),
        },
    }


def from_obp(
    feedback: Mapping[str, Any],
    *,
    states: int,
    budget: int,
    discount: float = 0.99,
    rewards: ArrayLike | None = None,
    chain: int | None = None,
    state: State | None = None,
    arms: int | None = None,
) -> Instance:
    """The instance of OBP's ``bandit_feedback`` with two actions, of which 1 is the pull.

    What :func:`to_obp` wrote comes back as it was. Any other log has rounds and no trajectories: each is an arm with one decision, or they are those
    of ``arms`` arms in turn, and what came afterwards is unknown. ``state`` says which state a context stands for (``lambda context: np.zeros(len(context),
    int)`` where there is none); without it the first M columns are indicators.
    """
    kind = "OBP's bandit_feedback"
    if int(part(feedback, "n_actions", kind)) != 2:
        raise ValueError(f"n_actions: found {feedback['n_actions']}, expected 2: passive and pull")
    if feedback.get("position") is not None and np.any(feedback["position"]):
        raise ValueError("position: found several, expected one: an arm is pulled or not")
    action = whole(part(feedback, "action", kind), "action")
    rounds = len(action)
    if rounds == 0:
        raise ValueError("action: found no round, expected at least one")
    context, reward = (numbers(part(feedback, name, kind), name, rounds, "action") for name in ("context", "reward"))
    pscore = None if feedback.get("pscore") is None else numbers(feedback["pscore"], "pscore", rounds, "action")
    own = feedback.get("restive")
    if own is None:
        (run, arm), step, after = dealt(rounds, arms), np.zeros(rounds, dtype=np.int64), np.full_like(context, np.nan)
    else:
        places = ("trajectory", "arm", "step", "after")
        run, arm, step, after = (numbers(part(own, name, "what to_obp wrote"), f"restive[{name!r}]", rounds, "action") for name in places)
    if context.ndim != 2 or after.shape != context.shape:
        raise ValueError(f"context: found shape {list(context.shape)} and afterwards {list(after.shape)}, expected [{rounds}, D] both")
    found = [
        Episode(int(run[k]), int(arm[k]), int(step[k]), np.stack([context[k], after[k]]), action[[k]], reward[[k]], None if pscore is None else pscore[[k]])
        for k in range(len(action))
    ]
    return made(found, states=states, budget=budget, discount=discount, rewards=rewards, chain=chain, state=state)
