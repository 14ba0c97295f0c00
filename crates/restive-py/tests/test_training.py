"""The paper's method written in PyTorch over our layers, against the trainer of the library, on the same data.

The network is the paper's (features -> 64 ReLU -> softmax), the objective that of the published results: 0.9 of the value by
importance sampling minus 0.1 of the loss, per arm, with the published temperature; Adam, one step per instance and epoch. The
trainer is `restive train --profile published`, whose first epoch makes no step.
"""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
import restive
import restive.torch
import torch

PROGRAM = pathlib.Path(os.environ.get("RESTIVE_PROGRAM", "restive"))
SIZES = {"instances": 10, "arms": 30, "budget": 6, "trajectories": 20}
EPOCHS = 11
torch.set_num_threads(1)  # tensors are small: more threads would only wait for each other


def program(*arguments):
    """What the program says, line by line."""
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=True).stdout.splitlines()


def weights(model):
    """The parameters of a saved network by name, from its safetensors."""
    data = (model / "weights.safetensors").read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    return {
        name.removeprefix("member_0."): torch.frombuffer(
            bytearray(data[start + low : start + high]), dtype=torch.float64
        ).reshape(entry["shape"])
        for name, entry in json.loads(data[8:start]).items()
        for low, high in [entry["data_offsets"]]
    }


class Lesson:
    """An instance as tensors."""

    def __init__(self, instance):
        self.features = torch.tensor(instance.features)
        self.budget, self.discount = instance.budget, instance.discount
        self.state, action = torch.tensor(instance.state), torch.tensor(instance.action).long()
        self.arm = torch.arange(len(self.features))
        self.value = restive.torch.Cwpdis(self.state, action, instance.rewards, propensity=instance.propensity, discount=0.99)
        self.counts = torch.zeros(len(self.features), 2, 2, 2, dtype=torch.float64)
        place = (self.arm.expand_as(action), self.state[:, :-1], action, self.state[:, 1:])
        self.counts.index_put_(place, torch.ones((), dtype=torch.float64), accumulate=True)

    def judge(self, network):
        """Value and loss of a network."""
        P = network(self.features).reshape(-1, 2, 2, 2).softmax(-1)
        index = restive.torch.whittle_index(P, discount=0.99)
        temperature = 0.05 * torch.maximum(index**2, (index + 1) ** 2).max()
        pull = restive.torch.soft_top_k(index[self.arm, self.state[:, :-1]], self.budget, temperature)
        return self.value(pull), -(self.counts * P.log()).sum() / len(self.state)


def network(seed=None, start=None):
    layers = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).double()
    generator = torch.Generator().manual_seed(seed or 0)
    with torch.no_grad():
        for k, layer in enumerate([layers[0], layers[2]]):
            torch.nn.init.xavier_uniform_(layer.weight, generator=generator)
            torch.nn.init.zeros_(layer.bias)
            if start is not None:
                layer.weight.copy_(start[f"layer_{k}.weight"].T)
                layer.bias.copy_(start[f"layer_{k}.bias"])
    return layers


def train(network, lessons):
    """Mean value and loss of each epoch, as its steps met them."""
    adam, history = torch.optim.Adam(network.parameters(), lr=0.01, eps=1e-7), []
    for epoch in range(EPOCHS):
        seen = []
        for lesson in lessons:
            value, loss = lesson.judge(network)
            seen.append([value.item(), loss.item()])
            if epoch > 0:
                adam.zero_grad()
                (-(0.9 * value - 0.1 * loss) / len(lesson.features)).backward()
                adam.step()
        history.append(np.mean(seen, axis=0))
    return np.array(history)


def mean_value(network, lessons):
    return np.mean([lesson.judge(network)[0].item() for lesson in lessons])


def by_the_library(folder, seed):
    """Initial and final parameters, and the mean value and loss of each epoch."""
    study = folder / f"study-{seed}"
    program(
        "generate", "two-state", "--seed", seed, "--out", study, *(word for size, n in SIZES.items() for word in (f"--{size}", n))
    )
    published = ("--objective", "decision-focused", "--profile", "published", "--seed", seed)
    program("train", study, *published, "--epochs", 1, "--out", folder / f"start-{seed}")
    said = map(json.loads, program("train", study, *published, "--epochs", EPOCHS, "--json", "--out", folder / f"end-{seed}"))
    epochs = [line for line in said if line["event"] == "epoch"]
    history = np.array([[line["train_value"], line["train_loss"]] for line in epochs])
    return weights(folder / f"start-{seed}"), weights(folder / f"end-{seed}"), history


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Per seed: the training lessons, the test lessons, and what the library made of the first."""
    folder, found = tmp_path_factory.mktemp("training"), {}
    for seed in range(1, 9):
        lessons = [Lesson(instance) for instance in restive.generate("two-state", seed=seed, **SIZES)]
        found[seed] = lessons[:7], lessons[8:], by_the_library(folder, seed)
    return found


def test_from_the_same_weights_the_layers_go_the_way_of_the_library(runs):
    for seed in (1, 2):
        lessons, _, (start, end, history) = runs[seed]
        trained = network(start=start)
        np.testing.assert_allclose(train(trained, lessons), history, rtol=1e-8)  # rounding, over 70 steps
        np.testing.assert_allclose(trained[2].weight.detach().numpy().T, end["layer_1.weight"], atol=1e-6)


def test_from_weights_of_its_own_a_network_reaches_the_same_value(runs):
    """On test instances; paired by the data of a seed, within 3 standard errors of the mean difference."""
    gained, ahead = [], []
    for seed, (lessons, test, (_, end, _)) in runs.items():
        ours = network(seed)
        before = mean_value(ours, test)
        train(ours, lessons)
        gained.append(mean_value(ours, test) - before)
        ahead.append(mean_value(ours, test) - mean_value(network(start=end), test))
    error = np.std(ahead, ddof=1) / len(ahead) ** 0.5
    assert abs(np.mean(ahead)) < 3 * error
    assert np.mean(gained) > 5 * error  # what is compared is far larger than the noise
