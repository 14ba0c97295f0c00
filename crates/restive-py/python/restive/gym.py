"""A restless bandit as an environment for Gymnasium: N arms that keep moving, K of which may be pulled at each step.

    env = gymnasium.make("restive/RestlessBandit-v0", P=P, budget=K)       # after import restive.gym
    env = gymnasium.make("restive.gym:restive/RestlessBandit-v0", P=P, budget=K)      # which imports it
    envs = gymnasium.make_vec("restive.gym:restive/RestlessBandit-v0", num_envs=8, P=P, budget=K)

At every step the agent sees the state of each arm and says whom to pull. The step earns the sum of R(s) (or R(s, a)) of all
arms in the states just seen, each arm by rewards of its own where it has them, then every arm moves by its own P(s, a, .), pulled
or not. After `horizon` steps the episode is truncated; it never terminates by itself. That is the process of `restive.simulate`,
one step at a time.

**The budget is enforced.** An action is any N zeros and ones. Where it pulls more than K arms, the first K of them count, in
the order of the arms, and the others are left alone: so an agent that explores with arbitrary actions survives, and can never
earn what the programme could not afford. `info` says what happened: `pull`, the action that counted, and `refused`, how many
pulls did not.

**Actions** are N zeros and ones, or with `actions="subset"` one number: which K arms, as `itertools.combinations(range(N), K)` counts
them (of K = 1 that is the arm). There are C(N, K) of those: `subset` and `rank` go from the number to the arms and back.

**States that are seen at pulls only.** With `observation="collapsing"` and `chain=T` the agent sees labels s*T + h: the last state that was seen
and the steps since, 0 just after a pull, T - 1 from then on; they are the columns of `whittle_index(..., observation="collapsing", chain=T)`.
With `observation="beliefs"` it sees the chances `[N,M]` of each state. Arms move, and earn, by their true states all the same; `info["seen"]`
has what pulls saw (-1 elsewhere). The reward is that of the true states: an agent that learns from single rewards learns more than a programme sees.

>>> import numpy as np
>>> env = RestlessBandit(np.array([[0.2, 0.8, 0.5, 0.5]] * 5), budget=2, horizon=3)
>>> state, info = env.reset(seed=1)
>>> state, reward, terminated, truncated, info = env.step(np.ones(5, dtype=np.int8))
>>> info["pull"].tolist(), info["refused"]
([1, 1, 0, 0, 0], 3)
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

import restive
from restive._extras import need

need("gymnasium", "restive.gym", "gym")

import gymnasium  # noqa: E402
from gymnasium import spaces  # noqa: E402

__all__ = ["ID", "RestlessBandit"]

#: What the environment is called for `gymnasium.make`.
ID = "restive/RestlessBandit-v0"

#: More subsets than these are no action space for anybody.
MOST_SUBSETS = 2**31 - 1


class RestlessBandit(gymnasium.Env):
    """N arms, K pulls per step.

    Parameters
    ----------
    P : array, [N,M,2,M], or compact [N,4] for two states
        True or predicted transitions P(arm, state, action, next state).
    budget : int
        K, from 0 to N.
    rewards : array, [M] or [M,2] for all arms, [N,M] or [N,M,2] for each arm its own, optional
        R(s) or R(s, a); by default linear, s/(M-1). Of two arms with two states [2,2] could be either and is refused: expand it to [N,M,2].
    horizon : int
        Steps of an episode.
    initial : array, [N], optional
        States (labels where the observation is "collapsing") in which episodes begin; by default uniform, drawn anew for each episode.
        `reset(options={"state": ...})` overrides it for one episode. Where states are seen at pulls only, a state is the last one seen, just now.
    actions : "binary" or "subset"
    observation : "full", "collapsing" or "beliefs"
    chain : int, for "collapsing"
        T, the labels of each state.

    Spaces
    ------
    observation : MultiDiscrete([M] * N), the state of each arm; MultiDiscrete([M * T] * N), labels; Box [N,M], beliefs
    action : MultiBinary(N), 1 being a pull; Discrete(C(N, K)), which arms are pulled
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        P: ArrayLike,
        budget: int,
        rewards: ArrayLike | None = None,
        horizon: int = 10,
        initial: ArrayLike | None = None,
        *,
        actions: Literal["binary", "subset"] = "binary",
        observation: Literal["full", "collapsing", "beliefs"] = "full",
        chain: int | None = None,
    ) -> None:
        restive.whittle_index(P, rewards)  # the checks of the library, with its messages
        P = np.array(P, dtype=np.float64)
        if P.ndim not in (2, 4):
            raise ValueError(f"P: found shape {list(P.shape)}, expected [N, M, 2, M] or [N, 4]: one problem")
        if P.ndim == 2:
            P = np.stack([1.0 - P, P], axis=-1).reshape(-1, 2, 2, 2)
        n, m = P.shape[:2]
        if n == 0:
            raise ValueError("P: expected at least one arm, got none")
        if not (isinstance(budget, (int, np.integer)) and 0 <= budget <= n):
            raise ValueError(f"budget: expected a whole number from 0 to {n}, the number of arms, got {budget!r}")
        if not (isinstance(horizon, (int, np.integer)) and horizon >= 1):
            raise ValueError(f"horizon: expected a whole number of at least 1, got {horizon!r}")
        if actions not in ("binary", "subset"):
            raise ValueError(f"actions: expected 'binary' or 'subset', got {actions!r}")
        if observation not in ("full", "collapsing", "beliefs"):
            raise ValueError(f"observation: expected 'full', 'collapsing' or 'beliefs', got {observation!r}")
        if (chain is None) == (observation == "collapsing") or (chain is not None and not (isinstance(chain, (int, np.integer)) and chain >= 1)):
            expected = "a whole number of at least 1" if observation == "collapsing" else f"None where the observation is {observation!r}"
            raise ValueError(f"chain: expected {expected}, got {chain!r}")
        R = np.linspace(0.0, 1.0, m) if rewards is None else np.array(rewards, dtype=np.float64)
        self.budget, self.horizon, self.observation, self.actions = int(budget), int(horizon), observation, actions
        self.chain = 1 if chain is None else int(chain)
        self.rewards = R if R.shape in ((m, 2), (n, m, 2)) else np.stack([R, R], axis=-1)  # [M,2] or [N,M,2]
        self._earned = np.broadcast_to(self.rewards, (n, m, 2))
        self.initial = None if initial is None else self._states("initial", initial, n, m * self.chain)
        self._P, self._cumulative = P, P.cumsum(axis=-1)  # [N,M,2,M]
        self.observation_space: spaces.Space[Any] = (
            spaces.Box(0.0, 1.0, (n, m), np.float64) if observation == "beliefs" else spaces.MultiDiscrete(np.full(n, m * self.chain))
        )
        self.action_space: spaces.Space[Any] = spaces.MultiBinary(n)
        if actions == "subset":
            subsets = math.comb(n, self.budget)
            if subsets > MOST_SUBSETS:
                raise ValueError(f"actions: expected at most {MOST_SUBSETS:,} subsets of {self.budget} out of {n} arms, got {subsets:.3g}")
            self.action_space = spaces.Discrete(subsets)
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

    def subset(self, rank: int) -> np.ndarray:
        """Which arms an action of "subset" pulls: the `rank`-th of `itertools.combinations(range(N), K)`, as [N] zeros and ones."""
        n, left = len(self._P), self.budget
        if not 0 <= rank < math.comb(n, left):
            raise ValueError(f"action: expected a whole number from 0 to {math.comb(n, left) - 1}, got {rank!r}")
        pull, rank = np.zeros(n, dtype=np.int8), int(rank)
        for arm in range(n):
            if left == 0:
                break
            with_it = math.comb(n - arm - 1, left - 1)
            if rank < with_it:
                pull[arm], left = 1, left - 1
            else:
                rank -= with_it
        return pull

    def rank(self, pull: ArrayLike) -> int:
        """The action of "subset" that pulls these K arms, [N] zeros and ones."""
        wanted = np.asarray(pull)
        n, left, rank = len(self._P), self.budget, 0
        if wanted.shape != (n,) or not np.isin(wanted, (0, 1)).all() or wanted.sum() != left:
            raise ValueError(f"pull: expected [{n}] zeros and {left} ones, got {pull!r}")
        for arm in range(n):
            if left == 0:
                break
            if wanted[arm]:
                left -= 1
            else:
                rank += math.comb(n - arm - 1, left - 1)
        return rank

    def _move(self, row: np.ndarray) -> np.ndarray:
        """The next states [N], by cumulative chances [N,M]."""
        noise = self.np_random.random(len(row))
        # the last entry of a row may miss 1 by a rounding error: whoever falls behind it stays in the last state that can be
        return np.minimum((noise[:, None] * row[:, -1:] >= row).sum(axis=1), row.shape[1] - 1)

    def _seen(self) -> np.ndarray:
        """What the agent is shown."""
        if self.observation == "full":
            return self._state.copy()  # type: ignore[union-attr]
        return self._label.copy() if self.observation == "collapsing" else self._belief.clip(0.0, 1.0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """A new episode: states [N], labels [N] or beliefs [N,M], and an empty info."""
        super().reset(seed=seed)
        n, m = self._P.shape[:2]
        unknown = set(options or {}) - {"state"}
        if unknown:
            raise ValueError(f"options: found {', '.join(sorted(map(repr, unknown)))}, expected nothing but 'state'")
        given = (options or {}).get("state")
        if given is not None:
            start = self._states("options['state']", given, n, m * self.chain)
        elif self.initial is not None:
            start = self.initial.copy()
        else:
            start = self.np_random.integers(0, m * self.chain, n)
        self._step = 0
        if self.observation == "full":
            self._state = start
            return self._seen(), {}
        self._label = start
        self._belief = self._P[np.arange(n), start // self.chain, 1]  # [N,M]: just after the pull that saw them
        for since in range(1, self.chain):
            is_older = start % self.chain >= since
            self._belief = np.where(is_older[:, None], self._left_alone(self._belief), self._belief)
        self._state = self._move(self._belief.cumsum(axis=-1))
        return self._seen(), {}

    def _left_alone(self, belief: np.ndarray) -> np.ndarray:
        """Beliefs [N,M] a step later, without a pull."""
        moved: np.ndarray = np.einsum("nm,nmk->nk", belief, self._P[:, :, 0])
        return moved / moved.sum(axis=-1, keepdims=True)  # rounding must not leave the simplex, nor the box

    def step(self, action: ArrayLike) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One step: what is seen, the reward of all arms, False, whether the horizon is reached, and info."""
        if self._state is None or self._step >= self.horizon:
            raise gymnasium.error.ResetNeeded("the episode is over, or has not begun: call reset")
        n = len(self._P)
        if self.actions == "subset":
            number = np.asarray(action)
            if number.shape != () or number.dtype.kind not in "iu":
                raise ValueError(f"action: expected a whole number, got {action!r}")
            wanted = self.subset(int(number))
        else:
            wanted = np.asarray(action)
        if wanted.shape != (n,) or not np.isin(wanted, (0, 1)).all():
            raise ValueError(f"action: expected [{n}] zeros and ones, got {wanted.dtype} {list(wanted.shape)}: {action!r}")
        wanted = wanted.astype(bool)
        pull = wanted & (wanted.cumsum() <= self.budget)
        arm, a = np.arange(n), pull.astype(np.int64)
        before = self._state
        reward = float(self._earned[arm, before, a].sum())
        info = {"pull": pull.astype(np.int8), "refused": int(wanted.sum() - pull.sum())}
        if self.observation != "full":
            older = np.where(self._label % self.chain == self.chain - 1, self._label, self._label + 1)
            self._label = np.where(pull, before * self.chain, older)
            self._belief = np.where(pull[:, None], self._P[arm, before, 1], self._left_alone(self._belief))
            info["seen"] = np.where(pull, before, -1)
        self._state = self._move(self._cumulative[arm, before, a])
        self._step += 1
        return self._seen(), reward, False, self._step >= self.horizon, info


if ID not in gymnasium.registry:
    gymnasium.register(id=ID, entry_point="restive.gym:RestlessBandit")
