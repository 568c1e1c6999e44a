"""Every setting, one row each: what it is called, where it is written, which variable outweighs it.

`otolith config` shows and sets them by these rows and docs/SETTINGS.md lists them; a law compares both with
what config.py reads. `whose` says whose file it stands in: the user's config.toml, the home's otolith.toml,
or none, where only the environment says it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from otolith.errors import Invalid

Whose = Literal["user", "home", "environment"]
SWITCH = ("on", "off")


class Setting(NamedTuple):
    """One setting."""

    name: str  # as `otolith config` takes it
    field: str  # of Config, or "" where it has none
    whose: Whose
    key: str  # in the file, tables dotted
    variable: str
    help: str
    choices: tuple[str, ...] = ()
    form: type = str
    secret: bool = False


_ROWS = (
    Setting("provider", "provider", "user", "embedding.provider", "OTOLITH_PROVIDER",
            "which embedder finds by meaning", choices=("static", "minilm", "ollama", "openai", "none")),
    Setting("ollama-url", "ollama_url", "user", "embedding.ollama_url", "OTOLITH_OLLAMA_URL",
            "where Ollama answers"),
    Setting("ollama-model", "ollama_model", "user", "embedding.ollama_model", "",
            "the model to ask Ollama for"),
    Setting("openai-url", "openai_url", "user", "embedding.openai_url", "OTOLITH_OPENAI_URL",
            "a server that speaks OpenAI's way"),
    Setting("openai-model", "openai_model", "user", "embedding.openai_model", "",
            "the model to ask OpenAI for"),
    Setting("openai-key", "openai_key", "user", "embedding.openai_key", "OTOLITH_OPENAI_KEY",
            "the key for it", secret=True),
    Setting("chat.url", "chat_url", "user", "chat.url", "OTOLITH_CHAT_URL",
            "a language model's server"),
    Setting("chat.model", "chat_model", "user", "chat.model", "OTOLITH_CHAT_MODEL",
            "which model to ask it for"),
    Setting("chat.key", "chat_key", "user", "chat.key", "OTOLITH_CHAT_KEY",
            "the key for it", secret=True),
    Setting("chat.seconds", "chat_seconds", "user", "chat.seconds", "OTOLITH_CHAT_SECONDS",
            "how long to wait for it", form=float),
    Setting("model", "model_command", "user", "model.command", "OTOLITH_MODEL",
            "a program that is asked as a model: claude, codex, gemini, opencode, llm or a command"),
    Setting("model.seconds", "model_seconds", "user", "model.seconds", "OTOLITH_MODEL_SECONDS",
            "how long to wait for it", form=float),
    Setting("model.tokens", "model_tokens", "user", "model.tokens", "OTOLITH_MODEL_TOKENS",
            "the longest question", form=int),
    Setting("model.daily", "model_daily", "user", "model.daily", "OTOLITH_MODEL_DAILY",
            "questions a day", form=int),
    Setting("ask-agent", "ask_agent", "user", "ask_agent", "OTOLITH_ASK_AGENT",
            "whether the agent is asked once to keep what it learned", choices=("off", "auto")),
    Setting("agent", "agent", "user", "agent", "OTOLITH_AGENT",
            "under which name you write"),
    Setting("upkeep.auto", "upkeep", "user", "upkeep.auto", "OTOLITH_UPKEEP",
            "upkeep by itself, once a day", choices=SWITCH, form=bool),
    Setting("upkeep.remote", "upkeep_remote", "user", "upkeep.remote", "",
            "whether upkeep by itself may ask models and embedders elsewhere", choices=SWITCH, form=bool),
    Setting("upkeep.after", "upkeep_after", "user", "upkeep.after", "",
            "seconds that a session's start is left alone", form=float),
    Setting("projects", "projects", "home", "projects", "",
            "names that tags may stand for, with commas", form=list),
    Setting("language", "language", "home", "language", "",
            "the language that facts are drawn from"),
    Setting("git-commit", "git_commit", "home", "git_commit", "",
            "when the home is committed to git by itself", choices=("off", "upkeep", "session")),
    Setting("caps", "caps", "home", "caps", "",
            "how much GLOBAL_MEMORY holds of each type: caps.identity 5", form=int),
    Setting("tiers", "tiers", "home", "tiers", "",
            "what counts as core there; a table, edited in otolith.toml", form=dict),
    Setting("home", "", "environment", "", "OTOLITH_HOME",
            "which home; --home outweighs it"),
    Setting("project", "project", "environment", "", "OTOLITH_PROJECT",
            "the project, instead of the folder's name"),
    Setting("session", "session", "environment", "", "OTOLITH_SESSION",
            "the session that what is written belongs to"),
    Setting("key", "", "environment", "", "OTOLITH_KEY",
            "the key of a home in a database", secret=True),
    Setting("off", "", "environment", "", "OTOLITH_OFF",
            "set to 1: hooks and servers do nothing"),
    Setting("debug", "", "environment", "", "OTOLITH_DEBUG",
            "set to 1: errors with where they come from"),
)
SETTINGS = {row.name: row for row in _ROWS}
_SEED = {"provider": "embedding_provider", "openai-key": "openai_api_key"}  # as _config.json has it


def shown_as(row: Setting) -> str:
    """How answers name a setting."""
    return _SEED.get(row.name) or _bare(row.name)


def _bare(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(".", "_")


def setting(name: str) -> Setting:
    """The row of a setting, however its words are joined; an unknown name is refused with those there are."""
    plain = _bare(name)
    row = next((row for row in SETTINGS.values() if plain in (_bare(row.name), shown_as(row))), None)
    if row is None and name.startswith("caps."):
        return SETTINGS["caps"]._replace(name=name, key=name)
    if row is None:
        raise Invalid(f"there is no setting {name[:40]!r}", f"there are {', '.join(SETTINGS)}")
    return row


def read_value(row: Setting, given: str) -> object:
    """A value as its file holds it; None takes the setting out, so that its default counts."""
    if row.whose == "environment":
        raise Invalid(f"{row.name} is not kept in a file", f"set {row.variable} in the environment")
    if given == "default":
        return None
    if row.form is bool:
        if given.lower() not in ("on", "off", "true", "false", "yes", "no"):
            raise Invalid(f"{row.name} {given!r} is unknown", "use on or off")
        return given.lower() in ("on", "true", "yes")
    if row.choices and given not in row.choices:
        raise Invalid(f"{row.name} {given!r} is unknown", f"use one of {', '.join(row.choices)}")
    if row.form is list:
        return [word.strip() for word in given.split(",") if word.strip()]
    if row.form is dict or (row.name == "caps"):
        raise Invalid(f"{row.name} is a table", "give one of its keys (caps.identity), or edit otolith.toml")
    return given if row.form is str else _number(row, given)


def _number(row: Setting, given: str) -> object:
    try:
        value = row.form(given)
    except ValueError:
        value = -1
    if value < 0 or value != value:
        raise Invalid(f"{row.name} must be a number; got {given[:40]!r}")
    return value


def laid_over(text: str, changes: Mapping[str, Any]) -> str:
    """A TOML file with these dotted keys changed, all else as it was."""
    import tomlkit

    document: Any = tomlkit.parse(text)
    for dotted, value in changes.items():
        table, _, key = dotted.rpartition(".")
        place = document.setdefault(table, tomlkit.table()) if table else document
        if value is None:
            place.pop(key, None)
        else:
            place[key] = value
    return tomlkit.dumps(document)
