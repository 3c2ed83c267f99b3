"""Whether the code that a model runs is that of installed libraries, as they installed it.

Hooks, replaced methods and classes of one's own change numbers, and nothing in weights or config
tells. Code of a library lies in its folder; whatever else is called is somebody's change.
"""

import functools
import hashlib
import inspect
import os
import sys
import sysconfig
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import torch
from torch.nn.modules import module as torch_module
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack
from transformers.utils.hub import HF_MODULES_CACHE

from nnd.schemas import NNDError

_REMOTE: Final = "transformers_modules"
"""The package that transformers makes of the code in folders and on the Hub."""

_LIBRARIES: Final = (
    *("torch", "transformers", "accelerate", "peft", "bitsandbytes", "gptqmodel", "torchao"),
    *(
        "compressed_tensors",
        "optimum",
        "hqq",
        "auto_round",
        "fp_quant",
        "qutlass",
        _REMOTE,
    ),
)
"""Packages whose code a version, a commit or a digest names (`remote_code`)."""

_HELPERS: Final = ("typing_extensions", "huggingface_hub", "safetensors")
"""Packages that those import functions and decorators from."""

_HOOKS: Final = ("_forward_hooks", "_forward_pre_hooks")
_MOVING: Final = {"to", "cuda", "npu", "xpu", "mlu", "sdaa", "musa", "hpu"}
"""Methods that compute nothing; accelerate replaces them in models that are spread over devices."""

_PLACING: Final = ("accelerate.hooks", "torch._dynamo")
_MODES: Final = (DeviceContext,)
_STANDARD: Final = f"{sysconfig.get_path('stdlib')}{os.sep}"
_SHARED: Final = (
    *("transformers.models.", "transformers.modeling_", f"{_REMOTE}."),
    *("torch.nn.functional", "torch.nn.modules.", "transformers.activations"),
    *("transformers.cache_utils", "transformers.masking_utils", "transformers.pytorch_utils"),
    *("transformers.integrations.sdpa_attention", "transformers.integrations.moe"),
)
_MODELS: Final = "transformers.models."
_INTERFACES: Final = {
    "transformers.modeling_utils": "ALL_ATTENTION_FUNCTIONS",
    "transformers.masking_utils": "ALL_MASK_ATTENTION_FUNCTIONS",
    "transformers.modeling_rope_utils": "ROPE_INIT_FUNCTIONS",
}


_CALLED: Final = {types.FunctionType, types.MethodType, functools.partial}
_WITH_CODE: Final = {*_CALLED, classmethod, staticmethod, property}
_NEUTRAL: Final = {"abc", "typing", "builtins", "collections", "collections.abc", "enum"}


def is_library(name: str) -> bool:
    """Whether a Python module is that of a library which models are made of."""
    return name.partition(".")[0] in _LIBRARIES


def changed_libraries(device: str = "cpu") -> list[str]:
    """Return what was changed for all models of this process: each function, hook or mode."""
    found = [
        f"a hook of all modules, {_called(hook)}"
        for table in _HOOKS
        for hook in vars(torch_module)[f"_global{table}"].values()
    ]
    functions = _get_current_function_mode_stack()  # type: ignore[no-untyped-call]
    modes = [*functions, *_get_current_dispatch_mode_stack()]
    found += [f"the mode {_called(mode)}" for mode in modes if not isinstance(mode, _MODES)]
    found += ["torch.autocast"] if torch.is_autocast_enabled(device) else []
    own = _Own()
    for name, module in [*sys.modules.items()]:
        if _decides_numbers(name):
            found += _changed_in(module, name, own)
    for name, table in _INTERFACES.items():
        functions = dict(getattr(sys.modules.get(name), table, {}))
        found += [f"{table}[{key!r}]" for key, each in functions.items() if not own(each)]
    return found


def changed_code(model: torch.nn.Module) -> list[str]:
    """Return the classes, hooks and methods of a model in memory that are no library's own."""
    own, kinds, found = _Own(), dict[type, str](), list[str]()
    for name, module in model.named_modules():
        place = name or "the model"
        kinds.setdefault(type(module), place)
        hooks = (hook for table in _HOOKS for hook in vars(module).get(table, {}).values())
        found += [f"a hook of {place}, {_called(hook)}" for hook in hooks if not _is_own_hook(hook)]
        found += [
            f"{place}.{key}, {_called(value)}"
            for key, value in vars(module).items()
            if callable(value) and not (own(value) and _may_shadow(type(module), key, value))
        ]
    for kind, place in kinds.items():
        found += [
            f"the class {base.__qualname__} of {place}"
            for base in kind.__mro__
            if not is_library(base.__module__) and base.__module__ not in _NEUTRAL
        ]
    return found


def remote_code(model: torch.nn.Module) -> str | None:
    """Return the SHA-256 of the code that comes with a checkpoint; None if the model has none."""
    kinds = {type(module).__module__ for module in model.modules()}
    packages = {kind.rpartition(".")[0] for kind in kinds if kind.startswith(f"{_REMOTE}.")}
    files = {
        str(module.__file__)
        for name, module in [*sys.modules.items()]
        if name.rpartition(".")[0] in packages and getattr(module, "__file__", None)
    }
    if not files:
        return None
    digests = [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files]
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


def _decides_numbers(name: str) -> bool:
    return name.startswith(_SHARED) and (".modeling_" in name or not name.startswith(_MODELS))


def _changed_in(module: types.ModuleType, name: str, own: "_Own") -> Iterator[str]:
    """Yield the functions and methods that a module of a library has, but its file does not."""
    for key, value in [*vars(module).items()]:
        if type(value) in _CALLED and not own(value):
            yield f"{name}.{key}"
        elif _is_layer(value) and value.__module__ == name:
            for method, each in [*vars(value).items()]:
                if not own(each) or _is_of_another(each, name):
                    yield f"{name}.{key}.{method}"


def _is_layer(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, torch.nn.Module)


def _is_of_another(method: object, module: str) -> bool:
    """Whether a method was written for the classes of another model."""
    return (
        isinstance(method, types.FunctionType)
        and method.__module__ != module
        and method.__module__.startswith(_MODELS)
    )


def _is_own_hook(hook: Any) -> bool:  # noqa: ANN401 - any callable
    """Whether a hook is code of a library, and not a function of torch that somebody chose."""
    if isinstance(hook, types.FunctionType | types.MethodType):
        return is_library(hook.__module__ or "") and _Own()(hook)
    return is_library(type(hook).__module__) and not isinstance(hook, types.BuiltinFunctionType)


def _may_shadow(kind: type, name: str, value: Any) -> bool:  # noqa: ANN401 - any callable
    """Whether what an instance calls hides no method of its class, or places it on devices."""
    if name in _MOVING or not callable(getattr(kind, name, None)):
        return True
    inner = value.func if isinstance(value, functools.partial) else value
    return (getattr(inner, "__module__", None) or "").startswith(_PLACING)


def _is_of_library(thing: Any) -> bool:  # noqa: ANN401 - any callable without code in Python
    """Whether a class, a function in C, or an object to call comes with a library or Python."""
    kind = thing if isinstance(thing, type) else type(thing)
    root = kind.__module__.partition(".")[0]
    return is_library(root) or root in sys.stdlib_module_names or root in _HELPERS


def _called(thing: Any) -> str:  # noqa: ANN401 - any callable
    return str(getattr(thing, "__qualname__", type(thing).__qualname__))


_checked: dict[object, object] = {}
"""Functions that are a library's own → their code, which somebody may exchange."""


class _Own:
    """Says whether a thing calls only code that lies in the folder of a library."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}

    @functools.cached_property
    def _places(self) -> tuple[str, ...]:
        packages = [sys.modules.get(name) for name in (*_LIBRARIES, *_HELPERS)]
        places = [place for each in packages for place in getattr(each, "__path__", ())]
        files = filter(None, (getattr(each, "__file__", None) for each in packages))
        places.append(str(Path(HF_MODULES_CACHE, _REMOTE)))
        ours = (
            Path(inspect.getfile(NNDError)).parents[1],
            Path(inspect.getfile(is_library)).parents[2],
        )
        return *(f"{place}{os.sep}" for place in (*places, *ours)), *files

    def __call__(self, thing: Any) -> bool:  # noqa: ANN401 - any member of a class or a module
        if type(thing) not in _WITH_CODE:
            return not callable(thing) or _is_of_library(thing)
        code = getattr(thing, "__code__", None)
        if code is not None and _checked.get(thing) is code:
            return True
        is_own = all(map(self._is_own, _functions_in(thing)))
        if is_own and code is not None:
            _checked[thing] = code
        return is_own

    def _is_own(self, function: types.FunctionType) -> bool:
        file = function.__code__.co_filename
        if file == "<string>":  # written by dataclasses and the like
            return is_library(function.__module__ or "")
        if file not in self._known:
            standard = file.startswith(_STANDARD) and "-packages" not in file
            self._known[file] = standard or file.startswith(("<frozen ", *self._places))
        return self._known[file]


def _functions_in(thing: Any) -> Iterator[types.FunctionType]:  # noqa: ANN401 - as above
    """Yield a function, and those that it wraps."""
    todo, seen = [thing], set[int]()
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        match each:
            case types.FunctionType():
                yield each
                todo += [cell.cell_contents for cell in each.__closure__ or () if _is_full(cell)]
                todo.append(getattr(each, "__wrapped__", None))
            case types.MethodType() | classmethod() | staticmethod():
                todo.append(each.__func__)
            case functools.partial():
                todo += [each.func, *each.args, *each.keywords.values()]
            case property():
                todo += [each.fget, each.fset]


def _is_full(cell: types.CellType) -> bool:
    try:
        return callable(cell.cell_contents)
    except ValueError:
        return False
