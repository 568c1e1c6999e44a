"""Configuration: alone reads settings files and the environment.

Flag > OTOLITH_* > the user's config.toml > the home's _config.json (seed 004's keys) > its otolith.toml >
defaults. A home's settings are read through its tree. Addresses and keys come from the user's side only: a
foreign home can name a provider and a model, never a server.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from otolith.errors import Conflict, Damaged, Invalid, NotFound
from otolith.model.record import Finding
from otolith.model.settings import laid_over
from otolith.model.shape import NOTHING, Value

MAX_BYTES = 4 * 1024 * 1024
TRACKED, SEED, FORMER = "otolith.toml", "_config.json", "strata.toml"
GIT_COMMIT = ("off", "upkeep", "session")
ASK_AGENT = ("off", "auto")
PROVIDERS = ("static", "minilm", "ollama", "openai", "none")
SEED_KEYS = ("embedding_provider", "openai_api_key", "ollama_model", "openai_model")


def variable(*names: str, env: Mapping[str, str] = os.environ) -> str | None:
    """The first of these that the environment sets."""
    return next((env[name] for name in names if env.get(name)), None)


def child_environment(**more: str) -> dict[str, str]:
    return {**os.environ, **more}


OFF = "OTOLITH_OFF"  # set for programs that Otolith itself asks: no hook, no server, no install
_SESSION = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR",
            "CODEX_THREAD_ID")  # a program asked from inside an agent's session is none of that session


def nested_environment(env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a program that is asked as a model."""
    kept = {name: value for name, value in env.items() if name not in _SESSION}
    return {**kept, OFF: "1", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}


def has_screen() -> bool:
    """Whether a browser could open a window here."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def is_off(env: Mapping[str, str] = os.environ) -> bool:
    """Whether this process was started by a program that Otolith itself asks."""
    return bool(env.get(OFF))


def _xdg(variable: str, fallback: str, env: Mapping[str, str]) -> Path:
    base = env.get(variable)
    own = Path(env.get("HOME") or os.path.expanduser("~")) / fallback
    return Path(base) if base and os.path.isabs(base) else own


def data_folder(env: Mapping[str, str] = os.environ) -> Path:
    return _xdg("XDG_DATA_HOME", ".local/share", env) / "otolith"


def config_folder(env: Mapping[str, str] = os.environ) -> Path:
    return _xdg("XDG_CONFIG_HOME", ".config", env) / "otolith"


def systemd_folder(env: Mapping[str, str] = os.environ) -> Path:
    return _xdg("XDG_CONFIG_HOME", ".config", env) / "systemd" / "user"


def timer_file(home: str, env: Mapping[str, str] = os.environ) -> Path:
    """Where the timer of a home's upkeep belongs; two homes have two timers."""
    return systemd_folder(env) / f"otolith-upkeep-{hashlib.sha256(home.encode()).hexdigest()[:8]}.timer"


def cache_folder(env: Mapping[str, str] = os.environ) -> Path:
    return _xdg("XDG_CACHE_HOME", ".cache", env) / "otolith"


def home_cache(home: str, env: Mapping[str, str] = os.environ) -> Path:
    """What the cache keeps of a home: a folder named by sixteen digits of its place."""
    place = os.path.realpath(home) if os.path.isabs(home) else home
    return cache_folder(env) / hashlib.sha256(os.fsencode(place)).hexdigest()[:16]  # any bytes name a folder


def socket_path(home: str, env: Mapping[str, str] = os.environ) -> Path:
    """Where a process that serves a home answers hooks."""
    runtime, own = env.get("XDG_RUNTIME_DIR"), home_cache(home, env)
    folder = Path(runtime) / "otolith" if runtime and os.path.isabs(runtime) else own
    return folder / f"{own.name}.sock"


def home_name(given: Any = None, env: Mapping[str, str] = os.environ) -> str:
    """Which home, by path or URL: the one given, else OTOLITH_HOME, else the first that the user's
    config.toml lists, else the user's data folder.
    """
    first = next(iter(homes(env)), None) if not given and not env.get("OTOLITH_HOME") else None
    return os.fspath(given or env.get("OTOLITH_HOME") or first or data_folder(env))


def homes(env: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The homes that the user's config.toml lists: the first is written to, the others are asked as well."""
    listed = _user_settings(env).get("homes", [])
    if not isinstance(listed, list) or not all(isinstance(name, str) and name for name in listed):
        raise Invalid("homes in config.toml must be a list of folders and URLs", 'write homes = ["~/memory"]')
    return tuple(listed)


def read_settings(data: bytes) -> dict[str, Any]:
    """What a home's otolith.toml says."""
    return _parsed(data.decode(errors="replace"), TRACKED)


def team_key(home: str, env: Mapping[str, str] = os.environ) -> str:
    """The key for a home in a database: OTOLITH_KEY, else what the user's config.toml has under [keys] for
    its URL, with or without the space.
    """
    keys = _user_settings(env).get("keys", {})
    own = (keys.get(home) or keys.get(home.partition("#")[0])) if isinstance(keys, Mapping) else None
    key = env.get("OTOLITH_KEY") or own
    if not isinstance(key, str) or not key:
        raise Invalid(f"there is no key for {home}", "set OTOLITH_KEY, or put it under [keys] in config.toml")
    return key


def machine_id(env: Mapping[str, str] = os.environ) -> str:
    """Eight hex digits that tell this machine's logs from another's; made once."""
    path = config_folder(env) / "machine"
    with suppress(OSError):
        if len(machine := path.read_text().strip()) == 8:
            return machine
    fresh = os.urandom(4).hex()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(fresh + "\n")
    except FileExistsError:
        return path.read_text().strip() or fresh
    except OSError:
        return "00000000"
    return fresh


class Config(Value):
    """What is configured for one home; read once when it is opened."""

    provider: str = "static"
    ollama_model: str = "nomic-embed-text"
    openai_model: str = "text-embedding-3-small"
    ollama_url: str = "http://localhost:11434"
    openai_url: str = "https://api.openai.com/v1"
    openai_key: str | None = None
    chat_url: str | None = None
    chat_model: str | None = None
    chat_key: str | None = None
    chat_seconds: float = 60.0
    model_command: str | None = None  # a program that is asked instead of an endpoint
    model_seconds: float = 180.0
    model_tokens: int = 30_000  # of one question, at the most
    model_daily: int = 50  # questions a day
    ask_agent: str = "off"
    agent: str = "main"
    project: str = "default"
    session: str | None = None
    projects: tuple[str, ...] = ()
    language: str = "english"
    home_id: str = ""
    git_commit: str = "off"
    upkeep: bool = True  # by itself, when it is due
    upkeep_remote: bool = False  # with models and embedders that are not on this machine, too
    upkeep_after: float = 20.0  # seconds that a session's start is left alone
    caps: Mapping[str, Any] = NOTHING
    tiers: Mapping[str, Any] = NOTHING
    settings: Mapping[str, Any] = NOTHING  # everything of otolith.toml, for what is rarely asked
    flaws: tuple[Finding, ...] = ()  # values of the home that mean nothing; the default counts instead


def load(tree: Any, env: Mapping[str, str] = os.environ, cwd: str | None = None) -> Config:
    """The settings in force for the home that lies in this tree."""
    text, seed = _text(tree, TRACKED), seed_config(tree)
    if text is None and tree.look(FORMER):
        raise Invalid(f"this home's settings are in {FORMER}, a name of before 0.2",
                      f"rename that file to {TRACKED}")
    tracked, user = _parsed(text or "", TRACKED), _user_settings(env)
    embedding, chat = user.get("embedding", {}), user.get("chat", {})
    flaws: list[Finding] = []
    own = "static" if seed is None else seed.get("embedding_provider") or "ollama"  # the seed's default
    own = _one_of(own, PROVIDERS, SEED, "embedding_provider", flaws)
    commits = _one_of(tracked.get("git_commit", "off"), GIT_COMMIT, TRACKED, "git_commit", flaws)
    provider = _first(env.get("OTOLITH_PROVIDER"), embedding.get("provider"), own)
    if provider not in PROVIDERS:
        raise Invalid(f"embedding provider {provider!r} is unknown", f"use one of {', '.join(PROVIDERS)}")
    own_key = env.get("OTOLITH_OPENAI_KEY") or env.get("OPENAI_API_KEY") or embedding.get("openai_key")
    openai_url = env.get("OTOLITH_OPENAI_URL") or embedding.get("openai_url")
    home_key = _home_key(tree, seed or {}) if own_key is None and openai_url is None else None
    models = {name: _first(embedding.get(name), (seed or {}).get(name), getattr(Config, name))
              for name in ("ollama_model", "openai_model")}
    return Config(
        **models, provider=provider, openai_key=_first(own_key, home_key),
        openai_url=_first(openai_url, Config.openai_url),
        ollama_url=_first(env.get("OTOLITH_OLLAMA_URL"), embedding.get("ollama_url"), Config.ollama_url),
        chat_url=_first(env.get("OTOLITH_CHAT_URL"), chat.get("url")),
        chat_model=_first(env.get("OTOLITH_CHAT_MODEL"), chat.get("model")),
        chat_key=_first(env.get("OTOLITH_CHAT_KEY"), chat.get("key")),
        chat_seconds=_number(_first(env.get("OTOLITH_CHAT_SECONDS"), chat.get("seconds")), "chat_seconds"),
        **_model_settings(user, env),
        agent=_first(env.get("OTOLITH_AGENT"), user.get("agent"), "main"),
        project=_first(env.get("OTOLITH_PROJECT"), find_project(cwd, env), "default"),
        session=_first(env.get("OTOLITH_SESSION")), projects=_words(tracked, "projects"),
        language=tracked.get("language", "english"), home_id=str(tracked.get("home_id", "")),
        **_own_upkeep(user.get("upkeep", {}), env),
        git_commit=commits, caps=tracked.get("caps", {}), tiers=tracked.get("tiers", {}),
        settings=tracked, flaws=tuple(flaws),
    )


def _own_upkeep(given: Any, env: Mapping[str, str]) -> dict[str, Any]:
    """What the user says about upkeep that nobody asked for: [upkeep] auto, remote, after."""
    given = given if isinstance(given, dict) else {"auto": given}
    auto = {"off": False, "on": True}.get(env.get("OTOLITH_UPKEEP", ""), given.get("auto", True))
    read = {"upkeep": auto, "upkeep_remote": given.get("remote", False),
            "upkeep_after": given.get("after", Config.upkeep_after)}
    for name, kind in (("upkeep", bool), ("upkeep_remote", bool), ("upkeep_after", int | float)):
        if not isinstance(read[name], kind):
            raise Invalid(f"[upkeep] in config.toml: {read[name]!r} means nothing",
                          "write auto = true or false, remote = true or false, after = seconds")
    return read


def _first(*values: Any) -> Any:
    """The first that says something, in order of precedence."""
    return next((value for value in values if value), None)


def _one_of(value: Any, options: tuple[str, ...], path: str, key: str, flaws: list[Finding]) -> str:
    """A home's value if it is one of these, else the first: one wrong word locks nobody out of a home."""
    if value in options:
        return str(value)
    flaws.append(Finding(path, None, "settings", f"{key} {value!r} is unknown; {options[0]} counts instead",
                         f"use one of {', '.join(options)}"))
    return options[0]


GITIGNORE = """_state.json
_index.json
_embeddings.json
_config.json
.lock
log/
index/*.json
*.tmp
"""
GITATTRIBUTES = """*.jsonl merge=union
index/audit.log merge=union
episodes/*.md merge=union
"""
MERGED = """*.md merge=otolith
*.json merge=otolith
"""  # after the lines above: where git is told how to merge records, the last line that fits counts


def settle(tree: Any, new_id: Callable[[], str]) -> tuple[str, list[str]]:
    """(the home's id, the files made): a home's own files, where they are missing.

    Its id is the one it has, or a fresh one; settings written without an id get it as their first line.
    """
    made = []
    with tree.lock():
        if tree.look("otolith.toml") is None:
            line = f'# Settings that belong to this home; see FORMAT.md.\nhome_id = "{_dashed(new_id())}"\n'
            tree.write("otolith.toml", f'{line}projects = []\ngit_commit = "off"\n'.encode())
            made.append("otolith.toml")
        data, _ = tree.read("otolith.toml")
        home_id = str(_parsed(data.decode(errors="replace"), "otolith.toml").get("home_id") or "")
        if not home_id:
            home_id = _dashed(new_id())
            new = f'home_id = "{home_id}"\n'.encode() + data
            tree.write(TRACKED, new, hashlib.sha256(data).hexdigest())
        for path, text in ((".gitignore", GITIGNORE), (".gitattributes", GITATTRIBUTES)):
            if tree.look(path) is None:
                with suppress(Conflict):  # something that is no plain file stands there
                    tree.write(path, text.encode())
                    made.append(path)
    return home_id, made


def _dashed(digits: str) -> str:
    """A UUID as it is written, from its 32 digits."""
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _text(tree: Any, name: str) -> str | None:
    """One of the home's settings files."""
    try:
        data = tree.read(name)[0]
        if len(data) > MAX_BYTES:
            raise Invalid(f"{name} cannot be read: more than {MAX_BYTES} bytes", "fix it or move it away")
        return str(data, "utf-8")
    except NotFound:
        return None
    except (Damaged, UnicodeDecodeError) as error:
        reason = str(error).removeprefix(f"{name}: ")
        raise Invalid(f"{name} cannot be read: {reason}", "fix it or move it away") from None


def _user_settings(env: Mapping[str, str]) -> dict[str, Any]:
    path = config_folder(env) / "config.toml"
    try:
        return _parsed(path.read_bytes()[:MAX_BYTES].decode("utf-8"), path.name)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{path.name} cannot be read: {error}", "fix it or move it away") from None


def _model_settings(user: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, Any]:
    """What a person allows a model to do; nothing of it comes from a home."""
    model = user.get("model", {})
    asks = _first(env.get("OTOLITH_ASK_AGENT"), user.get("ask_agent"), ASK_AGENT[0])
    if asks not in ASK_AGENT:
        raise Invalid(f"ask_agent {asks!r} is unknown", f"use one of {', '.join(ASK_AGENT)}")
    named = {f"model_{key}": _number(_first(env.get(f"OTOLITH_MODEL_{key.upper()}"), model.get(key)),
                                     f"model_{key}") for key in ("seconds", "tokens", "daily")}
    command = _first(env.get("OTOLITH_MODEL"), model.get("command"))
    return {"model_command": command, "ask_agent": asks, **named}


def _number(value: Any, name: str) -> Any:
    """A number above nothing, of the default's own type."""
    usual = getattr(Config, name)
    try:
        number = type(usual)(value) if value else usual
    except (TypeError, ValueError):
        number = 0
    if not number > 0:
        raise Invalid(f"{name.replace('_', ' ')} must be a number; got {value!r}") from None
    return number


def change_user_settings(changes: Mapping[str, Any], env: Mapping[str, str] = os.environ) -> Path:
    """Write keys such as `model.command` into the user's config.toml, which keeps all else; None removes."""
    path = config_folder(env) / "config.toml"
    _user_settings(env)  # what cannot be read is not written over
    text = laid_over(path.read_text("utf-8") if path.exists() else "", changes)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    target = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(target, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    return path


def change_home_settings(tree: Any, changes: Mapping[str, Any]) -> None:
    """Write keys such as `git_commit` into the home's otolith.toml, which keeps all else; None removes."""
    with tree.lock():
        data = tree.read(TRACKED)[0]
        new = laid_over(data.decode("utf-8"), changes)
        _parsed(new, TRACKED)
        tree.write(TRACKED, new.encode(), hashlib.sha256(data).hexdigest())


def was_offered(name: str, env: Mapping[str, str] = os.environ) -> bool:
    """Whether something was offered to this person before; from now on it was."""
    path = config_folder(env) / f"offered-{name}"
    if path.exists() or _user_settings(env).get(name):
        return True
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    return False


def prompt(name: str, env: Mapping[str, str] = os.environ) -> str:
    """What a model is asked with: the person's own file if there is one, else the package's."""
    for folder in (config_folder(env) / "prompts", Path(__file__).parent / "prompts"):
        with suppress(OSError):
            return (folder / f"{name}.md").read_bytes()[:MAX_BYTES].decode("utf-8", "replace")
    raise NotFound(f"no prompt {name!r}")


def _parsed(text: str, name: str) -> dict[str, Any]:
    if not text:
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also an integer too long to be read
        raise Invalid(f"{name} cannot be read: {error}", "fix it or move it away") from None


def seed_config(tree: Any) -> dict[str, Any] | None:
    """Seed 004's _config.json as it stands; None if there is none."""
    text = _text(tree, SEED)
    try:
        settings = {} if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{SEED} cannot be read: {error}", "fix it or move it away") from None
    if not isinstance(settings, dict):
        raise Invalid(f"{SEED} must be an object", "fix it or move it away")
    return None if text is None else settings


def _words(settings: Mapping[str, Any], key: str) -> tuple[str, ...]:
    words = settings.get(key, [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise Invalid(f"{key} in {TRACKED} must be a list of words", f'write {key} = ["one", "two"]')
    return tuple(words)


def _home_key(tree: Any, seed: Mapping[str, Any]) -> str | None:
    """A key kept in the home counts only if nobody else could have put it there."""
    key, measure = seed.get("openai_api_key"), tree.measure(SEED)
    return key if isinstance(key, str) and measure and measure.private else None


# Which project a folder belongs to


def find_project(start: str | None, env: Mapping[str, str] = os.environ) -> str | None:
    """The name of the main git work tree above a folder, else the folder's own; none where nobody works on
    one thing: in the home folder, at the root, in temporary folders.
    """
    try:
        here = Path(os.path.realpath(start or os.getcwd()))
    except FileNotFoundError:  # the folder one stands in was removed
        return None
    root = _work_tree(here)
    home = Path(os.path.realpath(env.get("HOME") or os.path.expanduser("~")))
    if root is None:
        temporary = {os.path.realpath(folder) for folder in (env.get("TMPDIR"), "/tmp", "/var/tmp") if folder}
        if any(str(folder) in temporary for folder in (here, *here.parents)):
            return None
    folder = root or here
    return None if folder == home or not folder.name else _project_name(folder, env)


def _work_tree(here: Path) -> Path | None:
    """The main work tree above a folder: a linked one says in its .git file where that lies."""
    for folder in (here, *here.parents):
        git = folder / ".git"
        if os.path.isdir(git):
            return folder
        if os.path.isfile(git):  # what may not be looked at counts as not there
            with suppress(OSError, UnicodeDecodeError):
                place = git.read_text()[:4096].partition("gitdir:")[2].strip()
                target = Path(os.path.normpath(folder / place))
                if target.parent.name == "worktrees" and target.parent.parent.name == ".git":
                    return target.parent.parent.parent
            return folder
    return None


def _project_name(root: Path, env: Mapping[str, str]) -> str:
    """The name under which a folder's memories are kept; a second folder of that name gets another."""
    path, place = config_folder(env) / "projects.json", str(root)
    try:
        names = json.loads(path.read_bytes()[:MAX_BYTES])
    except (OSError, ValueError):
        names = {}
    names = names if isinstance(names, dict) else {}
    if isinstance(names.get(place), str):
        return str(names[place])
    taken = [other for other, name in names.items() if name == root.name and os.path.isdir(other)]
    mark = hashlib.sha256((_remote(root) or place).encode("utf-8", "replace")).hexdigest()[:4]
    name = f"{root.name}-{mark}" if taken else root.name
    # of a folder that is gone, most likely moved, the name is free
    kept = {other: own for other, own in names.items() if own != name}
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = path.with_name(f"projects.json.{os.getpid()}.tmp")
        fresh.write_text(json.dumps({**kept, place: name}, indent=2) + "\n")
        fresh.replace(path)
    return name


def _remote(root: Path) -> str:
    """The address of a repository's first remote."""
    with suppress(OSError, UnicodeDecodeError):
        for line in (root / ".git" / "config").read_text().splitlines():
            if line.strip().startswith("url ="):
                return line.partition("=")[2].strip()
    return ""
