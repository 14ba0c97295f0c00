"""Slow, obvious PyTorch in float64 for what the kernels of a graphics processor compute; imported by their tests."""

import itertools

import torch


def rewards_of(states):
    return torch.rand(states, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(states)).tolist()


def arms_of(n, states, seed=5):
    """[N,M,2,M]"""
    P = torch.rand(n, states, 2, states, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) ** 2
    return P / P.sum(-1, keepdim=True)


def index_by_bisection(P, rewards, discount):
    """[N,M]: the subsidy at which the advantage of a pull changes sign, the values being the best of all 2^M policies."""
    (n, m), rewards = P.shape[:2], torch.tensor(rewards, dtype=torch.float64)
    policies = list(itertools.product([0, 1], repeat=m))
    chosen = torch.stack([torch.stack([P[:, s, a[s]] for s in range(m)], 1) for a in policies], 1)
    inverse = torch.linalg.inv(torch.eye(m, dtype=torch.float64) - discount * chosen)

    def advantage(subsidy):
        earned = [torch.stack([rewards[s, a[s]] + subsidy * (1 - a[s]) for s in range(m)], -1) for a in policies]
        value = torch.einsum("npst,nput->npus", inverse, torch.stack(earned, 1)).amax(1)
        passive, active = (rewards[:, a] + discount * torch.einsum("nst,nut->nus", P[:, :, a], value) for a in (0, 1))
        return (active - passive).diagonal(dim1=1, dim2=2) - subsidy

    low = torch.full((n, m), -100.0, dtype=torch.float64)
    high = -low
    for _ in range(80):
        middle = 0.5 * (low + high)
        pulls = advantage(middle) > 0
        low, high = torch.where(pulls, middle, low), torch.where(pulls, high, middle)
    return middle


def log_odds_by_bisection(scores, budget, temperature):
    """[B,N]: of soft top-k, the threshold from the balance of what is pulled beyond the strict choice and what is missing from it."""
    k = int(budget)
    ordered = scores.sort(-1, descending=True).values
    z = (ordered - ordered[:, k : k + 1]) / temperature
    low, high = z.amin(-1) - 60.0, z.amax(-1) + 60.0
    for _ in range(200):
        theta = 0.5 * (low + high)
        beyond = torch.nn.functional.logsigmoid(z[:, k:] - theta[:, None])
        missing = torch.nn.functional.logsigmoid(theta[:, None] - z[:, :k])
        rest = torch.full_like(missing[:, :1], budget - k).log()
        is_much = beyond.logsumexp(-1) > torch.cat([missing, rest], -1).logsumexp(-1)
        low, high = torch.where(is_much, theta, low), torch.where(is_much, high, theta)
    return (scores - ordered[:, k : k + 1]) / temperature - theta[:, None]


def log_of(j, h, n, states=3, seed=3):
    """States [J,H+1,N] and actions [J,H,N], some of them missing."""
    random = torch.Generator().manual_seed(seed)
    return torch.randint(-1, states, (j, h + 1, n), generator=random), torch.randint(-1, 2, (j, h, n), generator=random)


def cwpdis_by_formula(pull, state, action, rewards, budget, discount, previous_step, log_odds):
    """The value [] and the effective sample size at the last step, by the formula, where no term is dropped."""
    n, h = pull.shape[2], pull.shape[1]
    pulled = torch.tensor(budget / n, dtype=torch.float64)
    chance = torch.where(action == 1, pulled, 1.0 - pulled)
    logit = pull if log_odds else pull.logit()
    log_pi = torch.nn.functional.logsigmoid(torch.where(action == 1, logit, -logit))
    factor = torch.where(action < 0, torch.zeros_like(logit), log_pi - chance.log())
    if previous_step:
        factor = torch.cat([torch.zeros_like(factor[:, :1]), factor[:, :-1]], 1)
    earned = torch.tensor(rewards, dtype=torch.float64)[state[:, :h].clamp_min(0)]
    ratio = factor.cumsum(1).exp() * (state[:, :h] >= 0)
    mean = (ratio * earned).sum(0) / ratio.sum(0)
    sizes = ratio.sum(0) ** 2 / (ratio**2).sum(0)
    return (mean.sum(-1) * discount ** torch.arange(h, dtype=torch.float64)).sum(), sizes[-1].mean()


def fluid_by_bisection(P, index, initial, budget, temperature, rewards, discount, horizon):
    """The value [] of H steps of [N,M,2,M] arms, with thresholds by bisection; one step of Newton's method at the root, through which
    autograd goes, gives them the derivative of an implicit function."""
    tables = index if index.ndim == 3 else index[None]
    rewards = rewards if rewards.shape[-1] == 2 and rewards.shape[-2:-1] == P.shape[1:2] else rewards[..., None].expand(*rewards.shape, 2)
    mass, value = initial, 0.0
    for t in range(horizon):
        x = tables[min(t, len(tables) - 1)]
        with torch.no_grad():
            low, high = x.min() - 800.0 * temperature, x.max() + 800.0 * temperature
            for _ in range(200):
                tau = 0.5 * (low + high)
                is_low = (mass * ((x - tau) / temperature).sigmoid()).sum() > budget
                low, high = torch.where(is_low, tau, low), torch.where(is_low, high, tau)
            p = ((x - tau) / temperature).sigmoid()
            slope = (mass * p * (1.0 - p)).sum() / temperature
        tau = tau + ((mass * ((x - tau) / temperature).sigmoid()).sum() - budget) / slope
        active = mass * ((x - tau) / temperature).sigmoid()
        passive = mass - active
        value = value + discount**t * (active * rewards[..., 1] + passive * rewards[..., 0]).sum()
        mass = torch.einsum("ns,nst->nt", active, P[:, :, 1]) + torch.einsum("ns,nst->nt", passive, P[:, :, 0])
    return value
