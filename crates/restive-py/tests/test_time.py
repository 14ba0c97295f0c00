"""Programmes that end and values in a world that is given: against recursions written out here and finite differences."""

import pickle

import numpy as np
import pytest
import restive
from differences import arms, derivative, tangent


def advantage(p, rewards, discount, steps, subsidy, ending):
    """Of one arm [M,2,M] with so many decisions left, at a subsidy: a backward recursion."""
    value = rewards[:, 0] * (ending == "state")
    for _ in range(steps):
        q = rewards + discount * p @ value + np.array([subsidy, 0.0])
        value, gap = q.max(axis=1), q[:, 1] - q[:, 0]
    return gap


def bisected(p, rewards, discount, steps, s, ending):
    low, high = -50.0, 50.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        if advantage(p, rewards, discount, steps, middle, ending)[s] > 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@pytest.mark.parametrize("ending", ["nothing", "state"])
def test_horizon_indices_are_where_the_advantage_vanishes(ending):
    random = np.random.default_rng(1)
    p, rewards = arms(random, 6, 3), random.random((6, 3, 2))
    discount = random.uniform(0.5, 1.0, 6)
    found = restive.horizon_index(p.reshape(2, 3, 3, 2, 3), 5, rewards.reshape(2, 3, 3, 2), discount.reshape(2, 3), ending)
    assert found.index.shape == (5, 2, 3, 3) and found.is_indexable.shape == found.status.shape == (2, 3)
    assert found.is_indexable.all() and (found.status == "exact").all() and (found.index == found.last).all()
    for t in range(5):
        for i in range(6):
            for s in range(3):
                truth = bisected(p[i], rewards[i], discount[i], 5 - t, s, ending)
                assert found.index[t, i // 3, i % 3, s] == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("shape", [(3,), (3, 2), (4, 3), (4, 3, 2)])
def test_horizon_pullbacks_are_derivatives(shape):
    random, step = np.random.default_rng(2), 1e-6  # so small that no kink lies within it
    p, rewards, c = arms(random, 4, 3), random.random(shape), random.normal(size=(6, 4, 3))
    for discount in (0.9, random.uniform(0.5, 0.9, 4)):
        solved = restive.horizon_index(p, 6, rewards, discount, "state")
        back = solved.pullback_all(c)
        value = lambda p, r, g: (restive.horizon_index(p, 6, r, g, "state").index * c).sum()  # noqa: E731
        by_p, by_r, by_g = tangent(random, p.shape), random.normal(size=shape), random.normal(size=np.shape(discount))
        assert (back.d_P * by_p).sum() == pytest.approx(derivative(lambda x: value(x, rewards, discount), p, by_p, step), rel=1e-6)
        assert (back.d_rewards * by_r).sum() == pytest.approx(derivative(lambda x: value(p, x, discount), rewards, by_r, step), rel=1e-6)
        assert np.sum(back.d_discount * by_g) == pytest.approx(derivative(lambda x: value(p, rewards, x), discount, by_g, step), rel=1e-6)
        assert back.d_rewards.shape == shape and np.shape(back.d_discount) == np.shape(discount)
        assert (solved.pullback(c) == back.d_P).all() and np.abs(back.d_P.sum(-1)).max() < 1e-12


def test_compact_arms_have_the_plain_derivative_and_default_rewards_one_of_their_own():
    random = np.random.default_rng(3)
    p, c = random.uniform(0.1, 0.9, (5, 4)), random.normal(size=(4, 5, 2))
    back = restive.horizon_index(p, 4).pullback_all(c)
    by = random.normal(size=p.shape)
    truth = derivative(lambda x: (restive.horizon_index(x, 4).index * c).sum(), p, by, 1e-5)
    assert (back.d_P * by).sum() == pytest.approx(truth, rel=1e-6)
    assert back.d_rewards.shape == (2,) and isinstance(back.d_discount, float)
    assert pickle.loads(pickle.dumps(back)).d_discount == back.d_discount


def test_prices_bound_what_plans_earn_and_go_back_at_held_prices():
    random = np.random.default_rng(4)
    p, rewards = arms(random, 12, 2), random.random((2, 2))
    start = random.integers(0, 2, 12)
    plan = restive.plan_prices(p, start, 3, 6, rewards, 0.95, "nothing")
    run = restive.simulate(p, 3, "strict", plan.advantage, rewards=rewards, discount=0.95, horizon=6, initial=start, rollouts=4000)
    whittle = restive.whittle_index(p, rewards, 0.95).index
    other = restive.simulate(p, 3, "strict", whittle, rewards=rewards, discount=0.95, horizon=6, initial=start, rollouts=4000)
    error = run.values.std() / 4000**0.5
    assert other.values.mean() - 4 * error < run.values.mean() < plan.bound + 4 * error
    assert plan.bound < 1.1 * run.values.mean() and (plan.price >= 0).all() and plan.is_converged

    mass, c = np.eye(2)[start] * 0.8 + 0.1, random.normal(size=(6, 12, 2))
    plan = restive.plan_prices(p, mass, 3, 6, rewards, 0.95, "state")
    back = plan.pullback(0.7, c)

    def value(p, r, mass, g):
        """Bound and advantages at these prices, written out."""
        q_of = lambda v: r[None] + g * np.einsum("isat,it->isa", p, v)  # noqa: E731
        v, total = np.broadcast_to(r[:, 0], (12, 2)), 0.7 * 3 * (g ** np.arange(6) * plan.price).sum()
        for t in reversed(range(6)):
            q = q_of(v)
            total += (c[t] * (q[..., 1] - q[..., 0])).sum()
            v = np.maximum(q[..., 0], q[..., 1] - plan.price[t])
        return total + 0.7 * (mass * v).sum()

    by_p, by_r, by_m = tangent(random, p.shape), random.normal(size=(2, 2)), random.normal(size=(12, 2))
    assert (back.d_P * by_p).sum() == pytest.approx(derivative(lambda x: value(x, rewards, mass, 0.95), p, by_p, 1e-6), rel=1e-5)
    assert (back.d_rewards * by_r).sum() == pytest.approx(derivative(lambda x: value(p, x, mass, 0.95), rewards, by_r, 1e-6), rel=1e-5)
    assert (back.d_initial * by_m).sum() == pytest.approx(derivative(lambda x: value(p, rewards, x, 0.95), mass, by_m, 1e-6), rel=1e-5)
    assert back.d_discount == pytest.approx(derivative(lambda x: value(p, rewards, mass, x), 0.95, 1.0, 1e-6), rel=1e-5)
    assert back.d_budget == pytest.approx(0.7 * (0.95 ** np.arange(6) * plan.price).sum())


def softened(p, r, mass, price, budget, discount, temperature):
    """The dual at these prices with every maximum softened, the expected pulls [H], and the advantages [H,N,M]."""
    horizon, value = len(price), r[..., 0]
    chance, advantages = np.zeros((2, horizon, *mass.shape))
    for t in reversed(range(horizon)):
        q = r + discount * np.einsum("isat,it->isa", p, value)
        advantages[t] = q[..., 1] - q[..., 0]
        z = (advantages[t] - price[t]) / temperature
        chance[t], value = 1 / (1 + np.exp(-z)), q[..., 0] + temperature * np.logaddexp(0.0, z)
    pulls, total = np.zeros(horizon), (mass * value).sum() + budget * (discount ** np.arange(horizon) * price).sum()
    for t in range(horizon):
        share = np.stack([mass * (1 - chance[t]), mass * chance[t]], axis=-1)
        pulls[t], mass = share[..., 1].sum(), np.einsum("isa,isat->it", share, p)
    return total, pulls, advantages


@pytest.mark.parametrize("shape", [(2,), (2, 2), (12, 2), (12, 2, 2)])
def test_prices_at_a_temperature_go_back_whole(shape):
    random = np.random.default_rng(14)
    p, rewards = arms(random, 12, 2), random.random(shape)
    mass = random.dirichlet(np.ones(2), size=12)
    by_price, by_advantage = random.normal(size=5), random.normal(size=(5, 12, 2))

    def plan(p=p, r=rewards, mass=mass, k=3.0, g=0.95, e=0.05):
        return restive.plan_prices(p, mass, k, 5, r, g, "state", temperature=e)

    found = plan()
    by_action = shape in ((2, 2), (12, 2, 2))
    table = np.broadcast_to(rewards if by_action else rewards[..., None], (12, 2, 2))
    bound, pulls, advantages = softened(p, table, mass, found.price, 3.0, 0.95, 0.05)
    assert found.bound == pytest.approx(bound, rel=1e-13) and found.is_converged and (found.price > 0).any()
    np.testing.assert_allclose(found.advantage, advantages, atol=1e-12)
    np.testing.assert_allclose(pulls[found.price > 0], 3.0, rtol=1e-11)
    assert (pulls[found.price == 0] <= 3.0).all()
    sharp = restive.plan_prices(p, mass, 3.0, 5, rewards, 0.95, "state")
    assert sharp.bound <= found.bound <= sharp.bound + 12 * 5 * 0.05 * np.log(2)

    back = found.pullback(0.7, by_advantage, by_price)
    value = lambda **moved: (lambda x: by_price @ x.price + 0.7 * x.bound + (by_advantage * x.advantage).sum())(plan(**moved))  # noqa: E731
    by_p, by_r, by_m = tangent(random, p.shape), random.normal(size=shape), tangent(random, mass.shape)
    for found, name, at, by in (
        ((back.d_P * by_p).sum(), "p", p, by_p),
        ((back.d_rewards * by_r).sum(), "r", rewards, by_r),
        ((back.d_initial * by_m).sum(), "mass", mass, by_m),
        (back.d_budget, "k", 3.0, 1.0),
        (back.d_discount, "g", 0.95, 1.0),
        (back.d_temperature, "e", 0.05, 1.0),
    ):
        assert found == pytest.approx(derivative(lambda x: value(**{name: x}), at, by, 1e-5), rel=1e-6, abs=1e-6), name  # noqa: B023
    assert (back.d_price == 0).all() and back.d_rewards.shape == shape


def test_prices_without_a_derivative_say_so():
    p, start = arms(np.random.default_rng(15), 4, 2), np.zeros(4, int)
    with pytest.raises(ValueError, match="d_price: found one, expected none without a temperature"):
        restive.plan_prices(p, start, 1, 3).pullback(d_price=np.ones(3))
    assert not restive.plan_prices(p[:2], [0, 1], 1, 1, [[[0.0, 1.0]] * 2, [[0.0, 0.5]] * 2], temperature=1e-9).is_converged
    loose = restive.plan_prices(p[:2], [0, 1], 1, 1, [[[0.0, 1.0]] * 2, [[0.0, 0.5]] * 2], temperature=1e-9)
    for asked in ({"d_price": [1.0]}, {"d_advantage": np.ones((1, 2, 2))}):
        with pytest.raises(ValueError, match="temperature: found .*, expected one at which some arm is near every price"):
            loose.pullback(**asked)
    assert loose.pullback(d_price=[0.0]).d_rewards[0, 0].tolist() == pytest.approx([0.0, 1.0])  # the bound needs no such prices
    for wrong in (0.0, -1.0, np.nan, np.inf, 1e101):
        with pytest.raises(ValueError, match="temperature: found"):
            restive.plan_prices(p, start, 1, 3, temperature=wrong)
    with pytest.raises(ValueError, match="budget: found 0, expected a number above 0 where there is a temperature"):
        restive.plan_prices(p, start, 0, 3, temperature=0.1)


def flowed(p, index, mass, budget, temperature, horizon, rewards, discount):
    """The fluid value with its thresholds found by bisection."""
    value, tables = 0.0, index if index.ndim == 3 else np.broadcast_to(index, (horizon, *index.shape))
    for t in range(horizon):
        low, high = -100.0, 100.0
        for _ in range(200):
            middle = 0.5 * (low + high)
            pull = 1 / (1 + np.exp(-(tables[t] - middle) / temperature))
            low, high = (middle, high) if (mass * pull).sum() > budget else (low, middle)
        share = np.stack([mass * (1 - pull), mass * pull], axis=-1)
        value += discount**t * (share * rewards).sum()
        mass = np.einsum("isa,isat->it", share, p)
    return value


@pytest.mark.parametrize("shape", [(5, 3), (4, 5, 3)])
def test_fluid_values_go_back_to_everything(shape):
    random = np.random.default_rng(5)
    given = {
        "P": arms(random, 5, 3),
        "index": random.normal(size=shape) * 0.3,
        "initial": random.dirichlet(np.ones(3), 5),
        "budget": 1.7,
        "temperature": 0.2,
        "horizon": 4,
        "rewards": random.random((5, 3, 2)),
        "discount": 0.9,
    }
    found = restive.fluid_value(**given)
    assert found.value == pytest.approx(flowed(*given.values()), rel=1e-10)
    assert found.occupancy == pytest.approx(found.mass.mean(0)) and found.charge == pytest.approx(found.threshold.mean())
    back = found.pullback(2.0)
    for name in ("P", "index", "initial", "budget", "temperature", "rewards", "discount"):
        by = tangent(random, np.shape(given[name])) if name in ("P", "initial") else random.normal(size=np.shape(given[name]))
        truth = derivative(lambda x, name=name: 2 * restive.fluid_value(**{**given, name: x}).value, given[name], by, 1e-5)
        assert np.sum(getattr(back, f"d_{name}") * by) == pytest.approx(truth, rel=1e-6, abs=1e-9), name
        assert np.shape(getattr(back, f"d_{name}")) == np.shape(given[name])


def test_decomposed_values_go_back_to_everything():
    random = np.random.default_rng(6)
    p = arms(random, 5, 3)
    given = {
        "P": p,
        "index": random.normal(size=(5, 3)) * 0.3,
        "initial": random.dirichlet(np.ones(3), 5),
        "budget": 1.7,
        "temperature": 0.2,
        "charge": 0.15,
        "occupancy": random.dirichlet(np.ones(3), 5),
        "rewards": random.random(3),
        "discount": 0.9,
    }
    found = restive.decomposed_value(**given)
    total = given["charge"] * given["budget"]
    for i in range(5):  # each arm by a dense solve
        pull = found.pull[i][:, None]
        moves = (1 - pull) * p[i, :, 0] + pull * p[i, :, 1]
        value = np.linalg.solve(np.eye(3) - 0.9 * moves, given["rewards"] - 0.15 * found.pull[i])
        total += 0.1 * given["initial"][i] @ value
    assert found.value == pytest.approx(total, rel=1e-12)
    back = found.pullback()
    for name, x in given.items():
        by = tangent(random, np.shape(x)) if name in ("P", "initial") else random.normal(size=np.shape(x))
        truth = derivative(lambda x, name=name: restive.decomposed_value(**{**given, name: x}).value, x, by, 1e-5)
        assert np.sum(getattr(back, f"d_{name}") * by) == pytest.approx(truth, rel=1e-6, abs=1e-9), name


def test_simulations_take_tables_transitions_and_functions():
    random = np.random.default_rng(7)
    p, q = arms(random, 8, 2), arms(random, 8, 2)
    tables = random.normal(size=(6, 8, 2))
    run = lambda p, *policy, **more: restive.simulate(p, 3, *policy, horizon=6, rollouts=300, seed=5, keep_trajectories=True, **more)  # noqa: E731
    strict = run(p, "strict", tables)
    own = run(p, lambda t, state: tables[t][np.arange(8), state])
    pulled = run(p, lambda t, state: np.argsort(np.argsort(-tables[t][np.arange(8), state])) < 3)
    assert (strict.values == own.values).all() and (strict.values == pulled.values).all()
    assert (strict.state == own.state).all() and (strict.action == own.action).all() and (own.propensity == 1).all()
    # one table at every step is that table; transitions that do not change are those
    same = np.broadcast_to(tables[0], tables.shape)
    for policy in (("strict",), ("soft",)):
        more = {"temperature": 0.4} if policy == ("soft",) else {}
        once, often = run(p, *policy, tables[0], **more), run(np.stack([p] * 6), *policy, same, **more)
        assert (once.values == often.values).all() and (once.state == often.state).all()
        assert (once.propensity == often.propensity).all()
    # two halves with different transitions, nobody pulled: the expected value by products of matrices
    found = restive.simulate(np.stack([p] * 3 + [q] * 3), 0, "no-action", horizon=6, rollouts=20000, discount=0.9)
    mass, truth = np.full((8, 2), 0.5), 0.0
    for t in range(6):
        truth += 0.9**t * mass[:, 1].sum()
        mass = np.einsum("is,ist->it", mass, (p if t < 3 else q)[:, :, 0])
    assert abs(found.values.mean() - truth) < 4 * found.values.std() / 20000**0.5
    compact = np.stack([p] * 3 + [q] * 3)[..., 1].reshape(6, 8, 4)
    assert (restive.simulate(compact, 0, "no-action", horizon=6, rollouts=20000, discount=0.9).values == found.values).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: restive.horizon_index(p, 0), "horizon: found 0"),
        (lambda p: restive.horizon_index(p, 3, ending="x"), "ending: found \"x\", expected 'nothing' or 'state'"),
        (lambda p: restive.horizon_index(p[:2], 3, np.eye(2)), "rewards: found shape \\[2, 2\\]"),
        (lambda p: restive.horizon_index(p, 3, discount=[0.5]), "discount: found shape \\[1\\]"),
        (lambda p: restive.horizon_index(p, 3).pullback(np.zeros((3, 4, 3))), "d_index: found shape"),
        (lambda p: restive.plan_prices(p, np.full(4, 2), 1, 3), "initial: arm 0: found 2"),
        (lambda p: restive.plan_prices(p, np.zeros((4, 2)), 1, 3), "initial: arm 0: found a sum of 0"),
        (lambda p: restive.plan_prices(p[None], np.zeros(4, int), 1, 3), "P: found shape"),
        (lambda p: restive.fluid_value(p, np.zeros((4, 3)), np.zeros(4, int), 1, 0.1, 3), "index: found shape"),
        (lambda p: restive.simulate(np.stack([p] * 2), 1, "random", horizon=3), "P: found those of 2"),
        (lambda p: restive.simulate(p, 1, lambda t, s: np.ones((100, 4), bool), horizon=3), "policy: step 0, rollout 0: found 4 pulls"),
        (lambda p: restive.simulate(p, 1, lambda t, s: np.ones(4), horizon=3), "policy: step 0: found shape \\[4\\]"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.full((4, 2, 2, 2), 0.5))
