"""Run the check: layers one by one or in parallel, each result on disk as soon as it is there, resumed if interrupted.

The report has no clock in it and is assembled in the order of the layers, so that an interrupted and resumed run gives
the same bytes as an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentoken.checking.inside import Inside, listening, teller
from eigentoken.checking.report import Report, assemble
from eigentoken.files.arrays import write_safetensors
from eigentoken.files.collecting import seldom_collected
from eigentoken.files.installed import cache_folder, text_digest
from eigentoken.files.writing import append_line, opened, replacing, sealed_text, write_bytes
from eigentoken.numerics.pool import ON_CLUSTER

if TYPE_CHECKING:
    import numpy as np

    from eigentoken.checking.own_states import OwnStates
    from eigentoken.documents.check_document import LayerBounds, LayerRecord, Observed
    from eigentoken.documents.check_document import Options as OptionsDocument
    from eigentoken.models import Model

__all__ = ["KEPT", "check", "open_model"]

#: Files that a model is read from.
READ = (".safetensors", ".json", ".bin", ".pt", ".pth", ".gguf", ".npz")
#: What is said of a layer that an earlier run has examined.
KEPT = "kept from an earlier run"


@dataclass(frozen=True)
class _Options:
    """What was asked of :func:`check`."""

    statements: tuple[str, ...] = ()
    jobs: int = 1
    sequences: int = 8
    tokens: int = 32
    seed: int = 0
    fold: bool = False
    arrays: bool = False
    work: Path | None = None
    fresh: bool = False
    device: str = "cpu"
    heads_only: bool = False
    backend: str = "loky"
    address: str | None = None

    def __post_init__(self) -> None:
        for name, least in (("jobs", 1), ("sequences", 0), ("tokens", 2)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be a whole number, at least {least}, got {value!r}")


@seldom_collected()
def check(
    model: object,
    *,
    statements: str | Sequence[str] = (),
    sequences: int = 8,
    tokens: int = 32,
    seed: int = 0,
    fold: bool = False,
    jobs: int = 1,
    arrays: bool = False,
    work: str | Path | None = None,
    fresh: bool = False,
    done: Callable[[], None] = lambda: None,
    watch: Callable[[str, LayerRecord | None], None] = lambda _what, _found: None,
    inside: Inside | None = None,
    states: object = None,
    prompts: object = None,
    device: str = "cpu",
    heads_only: bool = False,
    backend: str = "loky",
    address: str | None = None,
) -> Report:
    """Check a model: a path, a hub id, ``sample:NAME``, a loaded :class:`eigentoken.models.Model` or a torch module.

    ``statements``: ids to check (all that speak of weights by default).  ``sequences`` of ``tokens`` random tokens are run
    through the layers (0: no observation); a model without an embedding gets random hidden states, and a warning says so.
    ``fold`` multiplies a pre-norm's gain into Q, K, V first.  ``jobs``: layers side by side.  ``arrays`` keeps the matrices
    that large certificates need to be re-checked.  ``work``: the folder with the results so far (the user's cache by
    default); ``fresh`` starts over.  ``done`` is called after each layer, ``watch`` with what begins (and with what was found
    of the layer before it), ``inside`` with a layer, the share of it that is done and what of it is being examined.

    ``states``: tokens in place of the random ones, floats (n, d) that enter layer 0 and are run on, or
    (layers, n, d) that enter each layer, as an array or a ``.npy`` file.
    ``prompts``: texts or token ids, a list or a file, whose states are run through the model from its own embedding.
    ``device`` (``cpu``, ``cuda``, ``mps``, ``auto``): where the large products of the certificates are formed.
    ``heads_only``: each head through its factors; no d x d matrix is formed, no tokens are run, and what is asked of the sums F
    and S is undecided.  ``backend`` and ``address``: where the layers are examined, ``loky`` (processes here) or ``dask`` with
    the address of a scheduler whose workers see the same files.
    """
    from eigentoken.numerics.certified.devices import arithmetic_of

    asked = (statements,) if isinstance(statements, str) else tuple(statements)
    folder = None if work is None else Path(work)
    chosen = _Options(
        asked, jobs, sequences, tokens, seed, fold, arrays, folder, fresh, arithmetic_of(device).name, bool(heads_only),
        backend, address,
    )  # fmt: skip
    if heads_only and (states is not None or prompts is not None):
        raise ValueError("heads_only examines weights alone: leave states and prompts out, or check without it")
    if heads_only:
        chosen = replace(chosen, sequences=0)
    loaded = open_model(model)
    own = _own(states, prompts, loaded, chosen)
    if own is not None:
        chosen = replace(chosen, sequences=1, tokens=own.tokens)
    ids = _statement_ids(chosen.statements)
    log = _Log(_folder(chosen), _binding(loaded, ids, chosen), chosen.fresh)
    wanted = sorted({loaded.architecture.weights_of(index) for index in range(loaded.n_layers)})
    missing = [index for index in wanted if index not in log.records]
    together = _together(model, loaded, chosen)
    waiting = list(missing)
    for index in wanted:
        if index not in waiting:
            watch(KEPT, log.records[index])
    watch(_now(waiting, together), None)
    for index, record, arrays_of_it in _records(loaded, missing, ids, chosen, together, inside):
        log.append(index, record, arrays_of_it if chosen.arrays else {})
        waiting.remove(index)
        watch(_now(waiting, together), record)
        done()
    from eigentoken.checking.token_bounds import with_margins

    observed: list[Observed] = []
    bounds: list[LayerBounds] = []
    if chosen.sequences:
        from eigentoken.checking.observe import observe
        from eigentoken.checking.token_bounds import bounds_at_tokens

        principal = {index: record["principal"] for index, record in log.records.items()}
        watch("random tokens through the layers" if own is None else "the given tokens through the layers", None)
        observed = observe(loaded, chosen.sequences, chosen.tokens, chosen.seed, principal, own)
        watch("certified bounds at the tokens", None)
        bounds = bounds_at_tokens(loaded, chosen.tokens, chosen.seed, ids, own)
    bounds = with_margins(bounds, log.records, loaded)
    options: OptionsDocument = {"fold": fold, "sequences": chosen.sequences, "tokens": chosen.tokens, "seed": seed}
    if heads_only:
        options["heads_only"] = True
    told = None
    if own is not None:
        weights = loaded.architecture.weights_of
        told = own.document(loaded, lambda index: log.records[weights(index)]["principal"], ids)
    return assemble(loaded, log.records, observed, bounds, ids, options, log.arrays, told)


def _now(waiting: Sequence[int], together: int) -> str:
    """What is being examined: ``layer 3``, or ``layers 3, 4`` where there are several at once."""
    some = waiting[:together]
    return f"layer{'s' if len(some) > 1 else ''} {', '.join(map(str, some))}" if some else "the whole"


def _own(states: object, prompts: object, loaded: Model, options: _Options) -> OwnStates | None:
    """The states or prompts that were given, if some were; they are observed, so that no sequences are a contradiction."""
    if states is None and prompts is None:
        return None
    from eigentoken.checking.own_states import own_states, states_of_prompts
    from eigentoken.checking.prompts import read_prompts

    if states is not None and prompts is not None:
        raise ValueError("states and prompts are both tokens to run: give one of them")
    if not options.sequences:
        named = "states are" if prompts is None else "prompts are"
        raise ValueError(f"{named} a sequence that is observed: leave sequences=0 (--sequences 0) out beside them")
    if prompts is not None:
        return states_of_prompts(read_prompts(prompts, loaded), loaded)
    return own_states(states, loaded)


#: Bytes that the parallel processes of a check may take together.
MEMORY = 3e9


def affordable_jobs(d: int, jobs: int, heads_only: bool = False) -> int:
    """How many layers of width d fit in memory side by side: some twenty d x d matrices of float64 are alive in each.

    Where heads alone are examined, the stored matrices of a layer (four, of at most float32) and the factors of one head are.
    """
    each = (24.0 if heads_only else 160.0) * d * d + 3e8
    return max(1, min(jobs, int(MEMORY // each)))


def _together(model: object, loaded: Model, options: _Options) -> int:
    """How many layers are examined at once; a model in memory is not sent to other processes."""
    if not isinstance(model, str | os.PathLike):
        if options.backend in ON_CLUSTER:
            raise ValueError(
                f"the {options.backend} backend opens the model in each worker: give a path or a hub id, not an object"
            )
        return 1
    return (
        options.jobs if options.backend in ON_CLUSTER else affordable_jobs(loaded.d, options.jobs, options.heads_only)
    )


@lru_cache(maxsize=1)
def _loaded(source: str, _stamp: tuple[tuple[str, int, int], ...]) -> Model:
    from eigentoken.models import load

    return load(source)


def _load(source: str) -> Model:
    """The model, opened again where its files are others now, as those of a training that writes over its last step."""
    from eigentoken.models import ModelError

    try:
        return _loaded(source, _stamp(source))
    except ModelError:
        from eigentoken.theory.statements.registry import statements

        if source in statements():
            raise ValueError(f"{source} is a statement: the model comes first, the statement after it") from None
        raise


def _stamp(source: str) -> tuple[tuple[str, int, int], ...]:
    """Names, times and sizes of the files at a path; of a hub id or a sample nothing, they do not change."""
    bare = Path(source if os.path.lexists(source) else source.partition("#")[0]).expanduser()
    try:
        beside = bare if bare.is_dir() else bare.parent if bare.is_file() else None
        files = [] if beside is None else [each for each in beside.iterdir() if each.suffix in READ and each.is_file()]
        found = [(each.name, each.stat()) for each in files]
    except OSError:
        return ()
    return tuple(sorted((name, kept.st_mtime_ns, kept.st_size) for name, kept in found))


def open_model(model: object) -> Model:
    """The loaded model behind whatever was given."""
    if isinstance(model, str | os.PathLike):
        return _load(str(model))
    from eigentoken.models import Model, load

    return model if isinstance(model, Model) else load(model)


def _statement_ids(asked: Sequence[str]) -> tuple[str, ...]:
    from eigentoken.theory.statements.registry import statements

    registry = statements()
    return tuple(registry.get(name).id for name in asked) if asked else tuple(each.id for each in registry)


def _folder(options: _Options) -> Path:
    folder = options.work or cache_folder() / "check"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _binding(loaded: Model, ids: Sequence[str], options: _Options) -> str:
    """sha256 of what the results depend on: version and code, weights and their configuration, statements, options."""
    from eigentoken.theory.statements.registry import statements
    from eigentoken.version import __version__

    registry = statements()
    asked = [registry.get(name) for name in ids]
    digests = [registry.digest(each) for each in asked if not _of_the_book(registry.origin(each))]
    key = json.dumps(
        [
            __version__,
            code_digest(),
            _reading(loaded),
            list(ids),
            digests,
            options.fold,
            options.arrays,
            options.device,
            options.heads_only,
        ]
    )
    return hashlib.sha256(key.encode()).hexdigest()


def _of_the_book(origin: Path | None) -> bool:
    """Is it stated in a file of our own book, whose text is in :func:`code_digest`?"""
    import eigentoken.proofs

    return origin is not None and origin.resolve().is_relative_to(Path(eigentoken.proofs.__path__[0]).resolve())


#: The libraries whose arithmetic the results go through.
ARITHMETIC = ("numpy", "scipy", "torch", "python-flint", "mpmath")


@lru_cache(maxsize=1)
def code_digest() -> str:
    """sha256 of the code that finds results, of the book's text, and of the versions of the libraries that compute.

    Results of others are not reused: another LAPACK gives other last digits, and so other intervals.
    """
    import eigentoken.checking
    import eigentoken.models
    import eigentoken.numerics
    import eigentoken.proofs
    import eigentoken.theory

    own = (eigentoken.theory, eigentoken.numerics, eigentoken.proofs, eigentoken.models, eigentoken.checking)
    return text_digest(own, ARITHMETIC)


class _Log:
    """Results by layer in a file of sealed lines; a line that was cut off by a kill, or changed, is found again."""

    def __init__(self, folder: Path, binding: str, fresh: bool) -> None:
        self.path, self.binding = folder / f"{binding[:24]}.jsonl", binding
        self.records: dict[int, LayerRecord] = {}
        if fresh and self.path.exists():
            self.path.unlink()
        if not self.path.exists():
            return
        lines = self.path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if self._take(line)]
        changed = sum(1 for line in lines if line.endswith(b"\n")) - len(kept)
        if changed:
            print(f"{self.path}: {changed} line(s) were changed, so these layers are examined again", file=sys.stderr)
        if len(kept) != len(lines):
            write_bytes(self.path, b"".join(kept))

    def _take(self, line: bytes) -> bool:
        entry = opened(line, self.binding) if line.endswith(b"\n") else None
        if entry is None or not self._arrays_are_there(entry):
            return False
        self.records[int(entry["layer"])] = entry["record"]
        return True

    def _arrays_are_there(self, entry: dict[str, Any]) -> bool:
        """The arrays that were stored with the line, each under the sha256 of its content."""
        from eigentoken.theory.language.verdicts import array_digest

        found = self._stored(int(entry["layer"]))
        return set(entry["arrays"]) <= set(found) and all(array_digest(array) == name for name, array in found.items())

    def _stored(self, index: int) -> dict[str, np.ndarray]:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            return dict(load_file(self._beside(index))) if self._beside(index).exists() else {}
        except (SafetensorError, OSError):
            return {}

    def _beside(self, index: int) -> Path:
        return self.path.with_suffix(f".{index}.safetensors")

    def arrays(self) -> dict[str, np.ndarray]:
        """All stored arrays by digest."""
        found: dict[str, np.ndarray] = {}
        for index in self.records:
            found |= self._stored(index)
        return found

    def append(self, index: int, record: LayerRecord, arrays: dict[str, np.ndarray] | None = None) -> None:
        """The arrays first, then the line that says that the layer is done."""
        if arrays:
            with replacing(self._beside(index)) as place:
                write_safetensors(place, arrays)
        text = json.dumps(record, allow_nan=False, sort_keys=True)
        self.records[index] = json.loads(text)
        entry = f'{{"arrays": {json.dumps(sorted(arrays or {}))}, "layer": {index}, "record": {text}}}'
        append_line(self.path, sealed_text(entry, self.binding))


def _records(
    loaded: Model, missing: Sequence[int], ids: Sequence[str], options: _Options, jobs: int, inside: Inside | None
) -> Iterator[tuple[int, LayerRecord, dict[str, np.ndarray]]]:
    """The records of the layers as they come, one layer a task of the pool that the lab has, too."""
    if options.backend not in ON_CLUSTER and (jobs == 1 or len(missing) < 2):
        for index in missing:
            tell = (lambda _share, _now: None) if inside is None else partial(inside, index)
            yield index, *_record(loaded, index, ids, options, tell)
        return
    from eigentoken.models import ModelError
    from eigentoken.numerics.pool import Lost, Pool

    same = code_digest(), _reading(loaded)
    place = _everywhere(loaded.source)
    with (
        listening(None if options.backend in ON_CLUSTER else inside) as folder,
        Pool(jobs, options.backend, options.address) as pool,
    ):
        tasks = [(place, index, tuple(ids), options, folder, *same) for index in missing]
        for number, found in pool.map(_record_of, tasks, lambda task: f"layer {task[1]}", ordered=False):
            if isinstance(found, Lost):
                raise ModelError(
                    f"layer {missing[number]} ended its worker each time ({found.why}): the layers that are done are kept, "
                    "run it again with more memory or --jobs 1"
                )
            yield missing[number], *found


def _everywhere(source: str) -> str:
    """The name of the model for a worker that runs in another folder."""
    path, mark, part = source.partition("#")
    return f"{Path(path).resolve()}{mark}{part}" if Path(path).exists() else source


@seldom_collected()
def _record_of(
    source: str, index: int, ids: Sequence[str], options: _Options, folder: str | None, code: str, reading: str
) -> tuple[LayerRecord, dict[str, np.ndarray]]:
    """One layer in a worker, which must have the same code and the same weights."""
    from eigentoken.models import ModelError

    if code_digest() != code:
        raise ModelError(
            f"a worker runs other code of eigentoken, or other versions of {', '.join(ARITHMETIC)}, than the check: "
            "install the same there"
        )
    if _reading(_load(source)) != reading:
        raise ModelError(f"a worker reads other weights at {source}: give a path that is the same file for all workers")
    return _record(_load(source), index, ids, options, teller(folder, index))


def _reading(loaded: Model) -> str:
    """sha256 of the weights and of the configuration that says how they are read: heads, part, mask."""
    config = json.dumps(dict(loaded.config), sort_keys=True, default=str)
    return hashlib.sha256(f"{loaded.fingerprint()} {loaded.family} {config}".encode()).hexdigest()


def _record(
    loaded: Model, index: int, ids: Sequence[str], options: _Options, tell: Callable[[float, str], None]
) -> tuple[LayerRecord, dict[str, np.ndarray]]:
    from eigentoken.checking.layers import layer_record
    from eigentoken.numerics.certified.arithmetic import using
    from eigentoken.numerics.certified.devices import arithmetic_of

    layer = loaded.layer(index)
    with using(arithmetic_of(options.device)):
        given = layer.fold_gains() if options.fold else layer
        return layer_record(given, ids, tell, heads_only=options.heads_only, arrays=options.arrays)
