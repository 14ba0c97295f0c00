"""Logs to and from the packages of others: OBP, SCOPE-RL, d3rlpy and Minari.

**Each arm is a trajectory of its own.** A step of a programme is a choice of K out of N arms: as one action it would be one of C(N, K), which no
estimator has ever seen twice. So what goes out are N logs with two actions, 0 and 1, and the propensity of each is the arm's own (K/N where arms
were pulled at random). That is also how :func:`restive.cwpdis` weighs them. The budget ties the arms of a step together; an evaluation
of their logs one by one does not know that.

**An observation** is the state as M indicators (M·T of labels, where states are seen at pulls only; all 0 where it was not seen), then the features:
``[M + F]``. A log from elsewhere may have other observations: then ``state`` says which state they stand for.

**A decision** is a step with an action; its reward is the one that was logged, otherwise that of the table of rewards. What is lost on the way out:
steps without an action, names, the truth, the budget and the discount. The way back gives an :class:`restive.Instance`, of which
:meth:`restive.Study.from_arrays` makes a study.

>>> import numpy as np, restive
>>> from restive import convert
>>> one = restive.generate("two-state", seed=7, instances=1, arms=5, budget=1, trajectories=3)[0]
>>> feedback = convert.to_obp(one)
>>> feedback["n_rounds"], feedback["n_actions"], feedback["context"].shape
(135, 2, (135, 18))
>>> back = convert.from_obp(feedback, states=2, budget=1)
>>> bool((back.state == one.state).all() and (back.action == one.action).all())
True
"""

from restive.convert._bandit import from_obp, to_obp
from restive.convert._episodic import from_d3rlpy, from_minari, from_scope_rl, to_d3rlpy, to_mdp, to_minari, to_scope_rl

__all__ = ["from_d3rlpy", "from_minari", "from_obp", "from_scope_rl", "to_d3rlpy", "to_mdp", "to_minari", "to_obp", "to_scope_rl"]
