# SPDX-License-Identifier: Apache-2.0
#
# The peers of cases_samples.cpp in PyTorch (eager, with fused Adam), JAX (one compiled function for
# a step) and scikit-learn: each case is a function that creates the operands and returns the work.
import pathlib
import tempfile

STEPS, LETTERS, LENGTH = 10, 76, 64


def sklearn_cases():
    import sklearn.datasets
    import sklearn.linear_model
    import sklearn.metrics
    import sklearn.model_selection
    import sklearn.preprocessing

    def table():
        x, y = sklearn.datasets.load_breast_cancer(return_X_y=True)  # reads its file
        part = sklearn.model_selection.train_test_split(x, y, stratify=y, random_state=1)
        scaler = sklearn.preprocessing.StandardScaler()
        train, test = scaler.fit_transform(part[0]), scaler.transform(part[1])
        model = sklearn.linear_model.LogisticRegression().fit(train, part[2])
        sklearn.metrics.roc_auc_score(part[3], model.predict_proba(test)[:, 1])
        return model.score(test, part[3])

    return {"sample table": lambda: table}


def jax_cases():
    import jax

    jnp, random = jax.numpy, jax.random

    def keys():
        key = random.PRNGKey(7)
        while True:
            key, own = random.split(key)
            yield own

    def training(adam, batch):
        key = keys()
        sizes = [784, 500, 10]
        parameters = []
        for inputs, outputs in zip(sizes, sizes[1:]):
            weight = random.normal(next(key), (inputs, outputs)) * (2 / inputs) ** 0.5
            parameters += [weight, jnp.zeros(outputs)]
        x, labels = random.uniform(next(key), (batch, 784)), jnp.arange(batch) % 10

        def loss(p):
            scores = jax.nn.relu(x @ p[0] + p[1]) @ p[2] + p[3]
            return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1).mean()

        def step(p, means, squares, count):
            value, gradients = jax.value_and_grad(loss)(p)
            if not adam:
                return [a - 0.01 * g for a, g in zip(p, gradients)], means, squares, count, value
            count = count + 1
            means = [0.9 * m + 0.1 * g for m, g in zip(means, gradients)]
            squares = [0.999 * s + 0.001 * g * g for s, g in zip(squares, gradients)]
            rate, scale = 0.001 / (1 - 0.9**count), 1 / (1 - 0.999**count)
            p = [a - rate * m / (jnp.sqrt(s * scale) + 1e-8) for a, m, s in zip(p, means, squares)]
            return p, means, squares, count, value

        compiled = jax.jit(step, donate_argnums=(0, 1, 2, 3))
        zeros = [jnp.zeros_like(a) for a in parameters]
        state = [parameters, zeros, [a + 0 for a in zeros], jnp.float32(0)]

        def work():
            nonlocal state
            for _ in range(STEPS):
                *state, value = compiled(*state)
            return value.item()

        return work

    # Pre-norm, rotary positions, causal.
    def block(width=256, heads=4, batch=8, steps=128):
        key = keys()
        depth = width // heads
        half = depth // 2
        shapes = {"qkv": (width, 3 * width), "out": (width, width)}
        shapes |= {"first": (width, 4 * width), "second": (4 * width, width)}
        p = {name: random.normal(next(key), s) * 0.05 for name, s in shapes.items()}
        p |= {name + " bias": jnp.zeros(s[1]) for name, s in shapes.items()}
        for norm in ["norm", "next norm"]:
            p |= {norm: jnp.ones(width), norm + " bias": jnp.zeros(width)}
        x, weights = (random.uniform(next(key), (batch, steps, width)) for _ in range(2))
        angle = jnp.arange(steps)[:, None] * 10000 ** (-jnp.arange(half) / half)
        seen = jnp.tril(jnp.ones((steps, steps), bool))

        def linear(p, name, x):
            return x @ p[name] + p[name + " bias"]

        def normalized(p, name, x):
            x = x - x.mean(-1, keepdims=True)
            scale = jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5)
            return x * scale * p[name] + p[name + " bias"]

        def turned(x):
            a, b = x[..., :half], x[..., half:]
            c, s = jnp.cos(angle), jnp.sin(angle)
            return jnp.concatenate([a * c - b * s, b * c + a * s], -1)

        def by_head(x):
            return x.reshape(batch, steps, heads, depth).swapaxes(1, 2)

        def loss(p, x):
            q, k, v = map(by_head, jnp.split(linear(p, "qkv", normalized(p, "norm", x)), 3, -1))
            scores = turned(q) / depth**0.5 @ turned(k).swapaxes(-1, -2)
            y = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), -1) @ v
            x = x + linear(p, "out", y.swapaxes(1, 2).reshape(batch, steps, width))
            between = linear(p, "first", normalized(p, "next norm", x))
            x = x + linear(p, "second", jax.nn.gelu(between, approximate=False))
            return (x * weights).sum()

        compiled = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
        return lambda: jax.block_until_ready(compiled(p, x))

    cases = {"transformer block": block}
    for batch in [64, 128, 1024]:
        cases[f"perceptron SGD {batch}"] = lambda batch=batch: training(False, batch)
        cases[f"perceptron Adam {batch}"] = lambda batch=batch: training(True, batch)
    return cases


def torch_cases():
    import torch
    from torch import nn
    from torch.nn import functional as F

    def training(model, loss, x, labels):
        optimizer = torch.optim.Adam(model.parameters(), fused=True)

        def work():
            for _ in range(STEPS):
                optimizer.zero_grad()
                value = loss(model(x), labels)
                value.backward()
                optimizer.step()
            return value.item()

        return work

    def labels_of(n):
        return torch.arange(n) % 10

    def perceptron():
        model = nn.Sequential(nn.Linear(784, 500), nn.Tanh(), nn.Linear(500, 10))

        def squared_error(output, labels):
            return F.mse_loss(output, F.one_hot(labels, 10).to(output.dtype)) * 10

        return training(model, squared_error, torch.rand(50, 784), labels_of(50))

    def convolutional(widths, places, x):
        layers, before = [], 1
        for width in widths:
            layers += [nn.Conv2d(before, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)]
            layers += [nn.ReLU(), nn.MaxPool2d(2)]
            before = width
        layers += [nn.Flatten(), nn.Linear(before * places, 128), nn.ReLU(), nn.Linear(128, 10)]
        return training(nn.Sequential(*layers), F.cross_entropy, x, labels_of(len(x)))

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.gru, self.linear = nn.GRU(40, 96, batch_first=True), nn.Linear(96, 10)

        def forward(self, x):
            return self.linear(self.gru(x)[0].mean(1))

    class Block(nn.Module):
        """Pre-norm, rotary positions, causal."""

        def __init__(self, width=64, heads=4):
            super().__init__()
            self.heads, self.first, self.second = heads, nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.between = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
            )
            self.rates = 10000 ** -(torch.arange(0, width // heads, 2) / (width // heads))

        def turned(self, x, begin):
            angle = (torch.arange(begin, begin + x.shape[2])[:, None] * self.rates)
            a, b = x[..., ::2], x[..., 1::2]
            c, s = angle.cos(), angle.sin()
            return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

        def forward(self, x, cache=None):
            n, t, width = x.shape
            split = self.qkv(self.first(x)).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            begin = cache[0].shape[2] if cache else 0
            q, k, v = self.turned(split[0], begin), self.turned(split[1], begin), split[2]
            if cache is not None:
                if cache:
                    k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
                cache[:] = [k, v]
            y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
            x = x + self.out(y.transpose(1, 2).reshape(n, t, width))
            return x + self.between(self.second(x))

    def block():
        model = Block(256)
        x, weights = torch.rand(8, 128, 256, requires_grad=True), torch.rand(8, 128, 256)
        operands = [*model.parameters(), x]
        return lambda: torch.autograd.grad((model(x) * weights).sum(), operands)

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.blocks = nn.Embedding(LETTERS, 64), nn.ModuleList([Block(), Block()])
            self.norm, self.out = nn.LayerNorm(64), nn.Linear(64, LETTERS)

        def forward(self, x, caches=(None, None)):
            x = self.embedding(x)
            for block, cache in zip(self.blocks, caches):
                x = block(x, cache)
            return self.out(self.norm(x))

    def text():
        x = (torch.arange(16 * 64) * 7 % LETTERS).view(16, 64)

        def next_letter(scores, labels):
            return F.cross_entropy(scores.flatten(0, 1), labels.flatten())

        return training(Transformer(), next_letter, x, (x + 7) % LETTERS)

    def writing():
        model = Transformer().eval()

        @torch.inference_mode()
        def work():
            caches, letter = ([], []), 1
            for _ in range(LENGTH):
                scores = model(torch.tensor([[letter]]), caches)[0, -1]
                letter = torch.multinomial(scores.softmax(0), 1).item()

        return work

    class Pictures(torch.utils.data.Dataset):
        def __init__(self):
            folder = pathlib.Path(tempfile.gettempdir(), "tutti-bench-pictures")
            self.files = sorted(folder.glob("*/*.jpg"))

        def __len__(self):
            return len(self.files)

        def __getitem__(self, i):
            import numpy
            from PIL import Image

            with Image.open(self.files[i]) as picture:
                pixels = numpy.asarray(picture.convert("RGB"))
            return torch.from_numpy(pixels.copy()), int(self.files[i].parent.name)

    def loader():
        batches = torch.utils.data.DataLoader(
            Pictures(), 64, shuffle=True, num_workers=2, persistent_workers=True
        )

        def work():
            for _ in batches:
                pass

        return work

    cases = {
        "sample perceptron": perceptron,
        "transformer block": block,
        "sample pictures": lambda: convolutional([16, 32], 49, torch.rand(64, 1, 28, 28)),
        "sample spectra": lambda: convolutional([16, 32, 64], 35, torch.rand(64, 1, 40, 63)),
        "sample gru": lambda: training(
            Recurrent(), F.cross_entropy, torch.rand(64, 63, 40), labels_of(64)
        ),
        "sample text": text,
        "sample writing": writing,
    }
    try:
        import PIL  # noqa: F401

        cases["sample loader"] = loader
    except ImportError:
        pass
    return cases
