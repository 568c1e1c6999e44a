"""A language model behind any OpenAI-compatible chat endpoint: OpenAI, DeepSeek, Ollama, whoever speaks like
it.

`Chat` is a callable: a question in, the answer's text out. It asks for JSON in the strictest way the server
takes. It never follows a redirect, so a key stays with its host, and never tries twice; whatever goes wrong
is a `Provider` error that says in one line what to do. It knows no facts and no prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from otolith.errors import OtolithError, Provider
from otolith.model.text import shorten, visible

OPENAI = "https://api.openai.com/v1"
SECONDS = 60.0
_VENDORS = (("deepseek.com", "deepseek"), ("openai.com", "openai"), ("mistral.ai", "mistral"),
            ("groq.com", "groq"), ("openrouter.ai", "openrouter"), ("x.ai", "xai"))
Ask = Callable[[str], Any]  # a question → the answer's text, or what it holds


def answer_of(ask: Ask, question: str) -> Any:
    """What a model answers. A caller's own function may fail in its own way, too;
    that is a Provider error as well.
    """
    try:
        return ask(question)
    except Provider:
        raise
    except (OtolithError, OSError, ValueError, TypeError, RuntimeError, LookupError, AttributeError) as error:
        said = shorten(visible(f"{type(error).__name__}: {error}"), 200)
        raise Provider(f"the model failed ({said})", "upkeep tries again") from error


class Chat:
    """One model at one address."""

    def __init__(self, *, model: str, url: str | None = None, key: str | None = None,
                 seconds: float = SECONDS) -> None:
        self.model, self.url, self.seconds = model, url or OPENAI, seconds
        self._key = key
        self._schema: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """provider/model, as `made_by` records it."""
        return f"{vendor(self.url)}/{self.model}"

    def shaped(self, schema: Mapping[str, Any]) -> Chat:
        """The same model, held to a schema where the server can do that."""
        held = Chat(model=self.model, url=self.url, key=self._key, seconds=self.seconds)
        held._schema = schema
        return held

    def __call__(self, question: str) -> str:
        try:
            import openai
        except ImportError:
            raise Provider("the openai client library is not installed",
                           "pip install 'otolith[llm]'") from None
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise Provider(f"the model has no web address: {self.url}",
                           "set chat.url to one that begins with http")
        web = openai.DefaultHttpxClient(follow_redirects=False)
        try:
            with openai.OpenAI(base_url=self.url, api_key=self._key or "none", timeout=self.seconds,
                               max_retries=0, http_client=web) as client:
                return self._ask(client, question)
        except openai.AuthenticationError:
            raise Provider(f"{self.name} refused the key",
                           "set OTOLITH_CHAT_KEY or chat.key in config.toml") from None
        except openai.RateLimitError:
            raise Provider(f"{self.name} has had too many requests", "upkeep tries again") from None
        except openai.APITimeoutError:
            raise Provider(f"{self.name} did not answer within {self.seconds:g} s",
                           "upkeep tries again") from None
        except openai.APIConnectionError as error:
            raise Provider(f"{self.name} cannot be reached: {error.__cause__ or error}",
                           "is it running?") from None
        except openai.APIStatusError as error:
            raise Provider(f"{self.name} answered {error.status_code}", "check address and model") from None
        except (openai.OpenAIError, ValueError) as error:
            raise Provider(f"{self.name}: {error}", "check address and model") from None

    def _ask(self, client: Any, question: str) -> str:
        """Ask for a schema, else for JSON, else for text: a server that knows no such option says 400."""
        import openai

        formats: list[dict[str, Any]] = [{"response_format": {"type": "json_object"}}, {}]
        if self._schema is not None:
            shape = {"name": "answer", "schema": dict(self._schema), "strict": False}
            formats.insert(0, {"response_format": {"type": "json_schema", "json_schema": shape}})
        for at, form in enumerate(formats):
            try:
                done = client.chat.completions.create(model=self.model,
                                                      messages=[{"role": "user", "content": question}],
                                                      **form)
            except (openai.BadRequestError, openai.UnprocessableEntityError):
                if at + 1 == len(formats):
                    raise
                continue
            return self._text(done)
        raise Provider(f"{self.name} took no question", "check address and model")

    def _text(self, done: Any) -> str:
        try:
            text = done.choices[0].message.content
        except (AttributeError, IndexError, TypeError):
            text = None
        if not isinstance(text, str) or not text.strip():
            raise Provider(f"{self.name} answered nothing", "check address and model")
        return text


def vendor(url: str) -> str:
    """Who stands behind an address, for `made_by`."""
    parts = urlsplit(url)
    host = parts.hostname or "unknown"
    if parts.port == 11434:
        return "ollama"
    return next((name for ending, name in _VENDORS if host == ending or host.endswith(f".{ending}")), host)
