"""Secrets are replaced by their kind; what only looks like one stays."""

from __future__ import annotations

import string
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otolith.memory import Memory
from otolith.model.secrets import holds_secret, redact, redact_value
from secret_lines import HARMLESS, PLACES, TOKENS, draw, rows

# Put together here, so that no scanner takes this file for a leak.
BODY = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3dE5f"
KEY_BLOCK = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow" + BODY + "\n" + BODY + "\n-----END RSA " + "PRIVATE KEY-----"
KEY = "AKIA" + "ABCDEFGH23456722"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + "." + BODY


@pytest.mark.parametrize(
    ("kind", "secret"),
    [
        ("aws-key", "AKIA" + "IOSFODNN7EXAMPLE"),
        ("github-token", "ghp_" + BODY[:36]),
        ("github-token", "github_pat_" + BODY + "_" + BODY),
        ("gitlab-token", "glpat-" + BODY[:20]),
        ("anthropic-key", "sk-ant-" + "api03-" + BODY + "-" + BODY),
        ("openai-key", "sk-" + "proj-" + BODY),
        ("openai-key", "sk-" + BODY),
        ("openai-key", "sk-" + "0123456789abcdef" * 2),
        ("slack-token", "xoxb-" + "123456789012-" + BODY[:24]),
        ("slack-webhook", "https://hooks.slack.com/" + "services/T00000000/B00000000/" + BODY[:24]),
        ("stripe-key", "sk_live_" + BODY[:24]),
        ("google-key", "AIza" + BODY[:35]),
        ("huggingface-token", "hf_" + BODY[:34]),
        ("npm-token", "npm_" + BODY[:36]),
        ("jwt", JWT),
        ("private-key", KEY_BLOCK),
    ],
)
def test_a_secret_anywhere_in_a_sentence_is_replaced_by_its_kind(kind: str, secret: str) -> None:
    text, counts = redact(f"We used {secret} yesterday, and ({secret}) again.")

    assert text == f"We used [secret:{kind}] yesterday, and ([secret:{kind}]) again."
    assert counts == {kind: 2}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("password = hunter2", "password = [secret:password]"),
        ('DB_PASSWORD="Tr0ub4dor&3"', 'DB_PASSWORD="[secret:password]"'),
        ("aws_secret_access_key: " + BODY, "aws_secret_access_key: [secret:api-key]"),
        ('{"api_key": "' + BODY + '"}', '{"api_key": "[secret:api-key]"}'),
        ("export SESSION_TOKEN=" + BODY, "export SESSION_TOKEN=[secret:token]"),
        ("client_secret => '" + BODY + "'", "client_secret => '[secret:secret]'"),
        ("X-Api-Key: " + BODY, "X-Api-Key: [secret:api-key]"),
        ("api_key=123e4567-e89b-12d3-a456-426614174000", "api_key=[secret:api-key]"),
        ("postgres://bob:s3cr3t@db.local/x", "postgres://bob:[secret:url-password]@db.local/x"),
        ("https://user:p%40ss@example.com", "https://user:[secret:url-password]@example.com"),
        ("Authorization: Bearer " + BODY, "Authorization: Bearer [secret:authorization]"),
        ("curl -H 'Authorization: Basic " + BODY + "=='", "curl -H 'Authorization: Basic [secret:authorization]'"),
    ],
)
def test_an_assigned_secret_goes_and_its_name_stays(line: str, expected: str) -> None:
    assert redact(line)[0] == expected


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f2a9c0d1e4b5a6978877665544332211009ffee fixed it",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "chunk-2026-02-10-a1b2c3d4 and mem_123e4567-e89b-12d3-a456-426614174000",
        "The password: must be long. The secret: everything is a file.",
        "token: string; password: str | None",
        "api_key=settings.API_KEY, token = os.environ['TOKEN']",
        "password: getPassword(), secret = load_secret2(path)",
        "password=$DB_PASSWORD PASSWORD=${PASS} password: <your password> token={{ token }}",
        "password: ********, api_key: your-api-key-here, token=xxxxxxxxxxxxxxxx",
        "max_tokens: 4096, token_count: 123456789012",
        "secret: '/run/secrets/db1', private_key: ~/.ssh/id_ed25519",
        "sk-learn-contrib-something-very-long-name-here1",
        "Token Ring and Bearer bonds and Basic instincts",
        "http://localhost:8080/x@y and git@github.com:foo/bar.git and ssh://git@host:22/x",
        "postgres://bob:$PASS@db/x and postgres://bob:password@db/x",
        "-----BEGIN CERTIFICATE-----\nMIIEow\n-----END CERTIFICATE-----",
        "passwordless: yes1234567, tokenizer: bert12345678-base",
    ],
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(("kind", "template"), rows(TOKENS), ids=[template.replace("¦", "")[:24] for _, template in rows(TOKENS)])
def test_a_token_is_known_by_its_vendors_form(kind: str, template: str) -> None:
    for seed in range(5):
        line, drawn = draw(template, seed)

        for said in (line, f"we used {line} yesterday", f'{{"said": "{line}"}}', f"a\\n{line}\\nb"):
            text, counts = redact(said)

            assert kind in counts
            assert max(drawn, key=len) not in text


@pytest.mark.parametrize(("kind", "template"), rows(PLACES), ids=[template.replace("¦", "")[:40] for _, template in rows(PLACES)])
def test_a_secret_is_known_by_the_words_around_it(kind: str, template: str) -> None:
    for seed in range(5):
        line, drawn = draw(template, seed)
        text, counts = redact(f"first line\n{line}\nlast line")

        assert kind in counts
        assert not drawn or max(drawn, key=len) not in text
        assert text.startswith("first line\n")
        assert text.endswith("\nlast line")


@pytest.mark.parametrize("template", HARMLESS.strip().splitlines(), ids=lambda template: template[:40])
def test_what_only_looks_like_a_secret_stays(template: str) -> None:
    for seed in range(5):
        line, _ = draw(template, seed)

        assert redact(line) == (line, {})


def test_harmless_lines_together_are_harmless_too() -> None:
    text = "\n\n".join(draw(template)[0] for template in HARMLESS.strip().splitlines())

    assert redact(text) == (text, {})


def test_plain_data_is_cleaned_under_its_keys() -> None:
    value, counts = redact_value({"env": {"DB_PASSWORD": "Tr0ub4dor&3", "PORT": "5432"}, "args": ["-v", "ghp_" + BODY[:36]], "n": 1})

    assert value == {"env": {"DB_PASSWORD": "[secret:password]", "PORT": "5432"}, "args": ["-v", "[secret:github-token]"], "n": 1}
    assert counts == {"password": 1, "github-token": 1}


def test_a_private_key_that_was_cut_off_goes_and_the_sentence_after_it_stays() -> None:
    text, counts = redact(KEY_BLOCK[:110] + "\nand then we went home")

    assert text.endswith("and then we went home")
    assert BODY[:30] not in text
    assert counts == {"private-key": 1}


def test_a_private_key_inside_a_json_string_goes_whole() -> None:
    escaped = KEY_BLOCK.replace("\n", "\\n")

    assert redact('{"key": "' + escaped + '", "n": 1}')[0] == '{"key": "[secret:private-key]", "n": 1}'


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["password=", "token: ", '"', "'", BODY, "sk-ant-" + BODY, "https://a:", "@b", "eyJ", KEY_BLOCK, " ", "\n", "x"]
        ),
        max_size=12,
    ).map("".join)
)  # fmt: skip
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once, _ = redact(text)

    assert redact(once) == (once, {})


def test_the_mark_of_a_secret_is_no_name_of_another() -> None:
    text = f"password=[secret:password]: {BODY} [secret:github-token] {BODY}"

    assert redact(text) == (text, {})


@given(st.text(alphabet=string.ascii_letters + " .,\n", max_size=300))
def test_plain_words_are_never_touched(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(
    "piece",
    ["token=", "-----BEGIN PRIVATE KEY-----!", "eyJ", "eyJaaaaaaaa.eyJ", "http://a:", "password: '", "sk-", "Bearer a", "a",
     "password for ", "password is ", "the password\n", "mysql -u root ", "curl -u a:", "echo a | ", "cookie: a=", "identified by ",
     "login a password ", "api_key ", "a1B2", "ghp_", "a:1:b:", "M" * 24 + ".", "abc/", "seed phrase: word "],
)
def test_time_grows_with_length_and_not_with_its_square(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        start = time.process_time()
        redact(text)
        return time.process_time() - start

    seconds(50_000)
    small = min(seconds(100_000) for _ in range(2))

    assert seconds(800_000) < 8 * small * 3 + 0.05


def test_a_fact_that_states_a_secret_is_not_kept_and_the_others_are(mem: Memory) -> None:
    mem.log("user: My password is Marlin-Quay-62.\nassistant: Noted.\nuser: I live in Lisbon.", topic="me")
    mem.log("user: My password is [secret:password].", topic="me")

    stated = [f"{fact.subject} {fact.relation} {fact.object}" for fact in mem.facts()]

    assert any("Lisbon" in fact for fact in stated)
    assert not any(holds_secret(fact) or "Marlin" in fact for fact in stated)


def test_what_a_user_asks_to_remember_is_no_memo_if_it_is_a_secret(mem: Memory) -> None:
    ended = mem.end("user: Remember that the deploy password is Marlin-Quay-62.\nuser: Remember that we deploy on Tuesdays.")

    assert not any("Marlin" in memo.text or "Marlin" in memo.id for memo in ended.kept)
    assert any("Tuesdays" in memo.text for memo in ended.kept)


def test_check_finds_what_was_kept_before(mem: Memory) -> None:
    mem.note("Database", f"The password is Marlin-Quay-62.\n\nThe other is {KEY}.")

    found = [finding for finding in mem.check(secrets=True) if finding.code == "secret"]

    assert {finding.message for finding in found} == {"looks like a secret (password)", "looks like a secret (aws-key)"}
    assert all("Marlin" not in str(finding) for finding in found)


# Typed by a person

TYPED: dict[str, Callable[[Memory, str], object]] = {
    "remember": lambda mem, said: mem.remember(said),
    "note": lambda mem, said: mem.note("Keys", said),
    "a note's steps": lambda mem, said: mem.note("Keys", type="procedure", steps=[said]),
    "memo": lambda mem, said: mem.memo("the_keys_of_the_house", said),
    "record": lambda mem, said: mem.record(goal="Brew", task_type="other", success=True, summary=said),
    "a work's details": lambda mem, said: mem.record(goal="Brew", task_type="other", success=True, summary="Brewed", actions=[
        {"type": "command_run", "details": {"command": said}}]),
    "episode": lambda mem, said: mem.episode("Keys", summary=said),
    "edit": lambda mem, said: mem.edit(mem.note("Tea", "Green.").id, text=said),
}


@pytest.mark.parametrize("write", TYPED.values(), ids=TYPED.keys())
def test_a_secret_in_what_is_typed_is_kept_and_told_once(mem: Memory, home: Path, write: Callable[[Memory, str], object]) -> None:
    write(mem, f"My key is {KEY} and that is that. " * 2)

    assert len([notice for notice in mem.notices if "secret (aws-key)" in notice]) == 1
    assert any(KEY in path.read_text() for path in home.rglob("*") if path.is_file())
