"""A restless bandit as an environment for Gymnasium: N arms that keep moving, K of which may be pulled at each step.

At every step the agent sees the state of each arm and says whom to pull. The step earns the sum of R(s) (or R(s, a)) of all
arms in the states just seen, then every arm moves by its own P(s, a, .), pulled or not. After `horizon` steps the episode is
truncated; it never terminates by itself. That is the process of `restive.simulate`, one step at a time.

**The budget is enforced.** An action is any N zeros and ones. Where it pulls more than K arms, the first K of them count, in
the order of the arms, and the others are left alone: so an agent that explores with arbitrary actions survives, and can never
earn what the programme could not afford. `info` says what happened: `pull`, the action that counted, and `refused`, how many
pulls did not.

>>> import numpy as np
>>> env = RestlessBandit(np.array([[0.2, 0.8, 0.5, 0.5]] * 5), budget=2, horizon=3)
>>> state, info = env.reset(seed=1)
>>> state, reward, terminated, truncated, info = env.step(np.ones(5, dtype=np.int8))
>>> info["pull"].tolist(), info["refused"]
([1, 1, 0, 0, 0], 3)
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike

import restive

__all__ = ["RestlessBandit"]


class RestlessBandit(gymnasium.Env):
    """N arms, K pulls per step.

    Parameters
    ----------
    P : array, [N,M,2,M], or compact [N,4] for two states
        True or predicted transitions P(arm, state, action, next state).
    budget : int
        K, from 0 to N.
    rewards : array, [M] or [M,2], optional
        R(s) or R(s, a); by default linear, s/(M-1).
    horizon : int
        Steps of an episode.
    initial : array, [N], optional
        States in which episodes begin; by default uniform, drawn anew for each episode. `reset(options={"state": ...})`
        overrides it for one episode.

    Spaces
    ------
    observation : MultiDiscrete([M] * N), the state of each arm
    action : MultiBinary(N), 1 being a pull
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        P: ArrayLike,
        budget: int,
        rewards: ArrayLike | None = None,
        horizon: int = 10,
        initial: ArrayLike | None = None,
    ) -> None:
        restive.whittle_index(P, rewards)  # the checks of the library, with its messages
        P = np.array(P, dtype=np.float64)
        if P.ndim == 2:
            P = np.stack([1.0 - P, P], axis=-1).reshape(-1, 2, 2, 2)
        n, m = P.shape[:2]
        if n == 0:
            raise ValueError("P: expected at least one arm, got none")
        if not (isinstance(budget, (int, np.integer)) and 0 <= budget <= n):
            raise ValueError(f"budget: expected a whole number from 0 to {n}, the number of arms, got {budget!r}")
        if not (isinstance(horizon, (int, np.integer)) and horizon >= 1):
            raise ValueError(f"horizon: expected a whole number of at least 1, got {horizon!r}")
        R = np.linspace(0.0, 1.0, m) if rewards is None else np.array(rewards, dtype=np.float64)
        self.budget, self.horizon = int(budget), int(horizon)
        self.rewards = np.stack([R, R], axis=1) if R.ndim == 1 else R  # [M,2]
        self.initial = None if initial is None else self._states("initial", initial, n, m)
        self._cumulative = P.cumsum(axis=-1)  # [N,M,2,M]
        self.observation_space = spaces.MultiDiscrete(np.full(n, m))
        self.action_space = spaces.MultiBinary(n)
        self._state: np.ndarray | None = None
        self._step = 0

    @staticmethod
    def _states(name: str, states: ArrayLike, n: int, m: int) -> np.ndarray:
        found = np.asarray(states)
        if found.shape != (n,) or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= m:
            raise ValueError(
                f"{name}: expected [{n}] states from 0 to {m - 1}, got {found.dtype} {list(found.shape)}: {states!r}"
            )
        return found.astype(np.int64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """A new episode: states [N], and an empty info."""
        super().reset(seed=seed)
        n, m = self._cumulative.shape[:2]
        given = (options or {}).get("state")
        if given is not None:
            self._state = self._states("options['state']", given, n, m)
        elif self.initial is not None:
            self._state = self.initial.copy()
        else:
            self._state = self.np_random.integers(0, m, n)
        self._step = 0
        return self._state.copy(), {}

    def step(self, action: ArrayLike) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One step: states [N], the reward of all arms, False, whether the horizon is reached, and info."""
        if self._state is None or self._step >= self.horizon:
            raise gymnasium.error.ResetNeeded("the episode is over, or has not begun: call reset")
        n, m = self._cumulative.shape[:2]
        wanted = np.asarray(action)
        if wanted.shape != (n,) or not np.isin(wanted, (0, 1)).all():
            raise ValueError(f"action: expected [{n}] zeros and ones, got {wanted.dtype} {list(wanted.shape)}: {action!r}")
        wanted = wanted.astype(bool)
        pull = wanted & (wanted.cumsum() <= self.budget)
        arm, a = np.arange(n), pull.astype(np.int64)
        reward = float(self.rewards[self._state, a].sum())
        noise = self.np_random.random(n)
        row = self._cumulative[arm, self._state, a]  # [N,M]
        # the last entry of a row may miss 1 by a rounding error: whoever falls behind it stays in the last state that can be
        self._state = np.minimum((noise[:, None] * row[:, -1:] >= row).sum(axis=1), m - 1)
        self._step += 1
        info = {"pull": pull.astype(np.int8), "refused": int(wanted.sum() - pull.sum())}
        return self._state.copy(), reward, False, self._step >= self.horizon, info
