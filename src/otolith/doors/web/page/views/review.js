// Review: facts one by one with the sentence they came from; contradictions side by side with three answers; what could be merged.
import { get, post } from "../api.js";
import { $, h, say, show, toast } from "../dom.js";
import { dayOf, empty, number, projectOf, recordPath, title } from "../format.js";
import { scoped } from "../project.js";

const TABS = [["facts", "Facts"], ["contradictions", "Contradictions"], ["merges", "Merges"]];

export async function open(stage, { words, go }) {
  const tab = TABS.some(([name]) => name === words.get("tab")) ? words.get("tab") : "facts";
  const topic = words.get("topic") ?? "";
  const data = await get("views/review", scoped({ topic }));
  const place = h("div", { role: "tabpanel", "aria-label": tab });
  const counts = { facts: data.total, contradictions: data.contradictions.length };
  show(stage,
    title("Review"),
    h("div", { class: "bar" },
      h("div", { class: "choice", role: "tablist", "aria-label": "What to review" }, TABS.map(([name, label]) =>
        h("button", { type: "button", role: "tab", "aria-selected": String(name === tab), onclick: () => go(`/review?tab=${name}`) },
          counts[name] === undefined ? label : `${label} ${number(counts[name])}`))),
      tab === "facts" && data.topics.length > 1 ? topics(data.topics, topic, go) : null),
    place);
  if (tab === "facts") return factQueue(place, data);
  if (tab === "contradictions") return contradictions(place, data);
  return merges(place);
}

function topics(found, topic, go) {
  return h("select", { "aria-label": "Topic", onchange: (event) => go(`/review?topic=${encodeURIComponent(event.target.value)}`) },
    h("option", { value: "" }, "All topics"),
    found.map((one) => h("option", { value: one.topic, selected: one.topic === topic }, `${one.topic} (${one.waiting})`)));
}

// Facts

function factQueue(place, data) {
  const queue = data.facts;
  const done = [];
  let at = 0;
  let busy = false;

  const draw = () => {
    const fact = queue[at];
    if (!fact) {
      show(place, h("div", { class: "card fact" }, h("p", { class: "triple" }, done.length ? "All done." : "Nothing waits for review."),
        h("p", { class: "lead" }, done.length ? `${number(done.length)} facts reviewed.` : "Facts are drawn from dialogs: log one, or let an agent do it, and what it says waits here for your word."), done.length ? null : h("p", {}, h("a", { href: "/new?tab=dialog" }, "Paste a dialog"))),
      done.length ? h("div", { class: "bar proposal" }, button("Undo", "u", undo)) : null);
      return;
    }
    show(place, h("article", { class: "card fact", "aria-label": "Fact", data: { id: fact.id } },
      triple(fact), quote(fact), source(fact),
      h("div", { class: "scores", role: "group", "aria-label": "Score" }, [...Array(11).keys()].map((score) =>
        h("button", { type: "button", title: score === 0 ? "wrong" : score === 10 ? "certain" : "", onclick: () => rate(score) }, String(score)))),
      h("div", { class: "bar" }, button("Correct", "c", correct), button("Reject", "x", () => rate(0), "bad"), button("Skip", "s", skip),
        done.length ? button("Undo", "u", undo) : null)),
    h("div", { class: "track", "aria-hidden": "true" }, h("i", { style: { width: `${(100 * at) / queue.length}%` } })),
    h("p", { class: "count" }, `${at + 1} of ${number(Math.max(queue.length, data.total))}`));
    say(fact.title);
  };

  // While an answer is awaited nothing else is begun: a key pressed meanwhile would be about another fact than the one shown.
  const send = async (body, which, after) => {
    if (busy || !queue[which]) return;
    busy = true;
    try {
      await post("review", { fact_id: queue[which].id, ...body });
      after();
    } catch (error) {
      toast(error.message, { bad: true });
    }
    busy = false;
    draw();
  };
  const settle = (body) => send(body, at, () => { done.push(at); at += 1; });
  const rate = (score) => settle({ score });
  const skip = () => {
    if (busy || !queue[at]) return;
    at += 1;
    draw();
  };
  const undo = () => send({ undo: true }, done.at(-1), () => { at = done.pop(); toast("Taken back"); });
  const correct = () => {
    const fact = queue[at];
    if (busy || !fact) return;
    const field = (name) => h("label", { class: "field" }, name, h("input", { name, value: fact[name] ?? "", required: name !== "object" }));
    const form = h("form", { class: "form", onsubmit: (event) => {
      event.preventDefault();
      const now = Object.fromEntries(new FormData(form));
      const changed = Object.fromEntries(Object.entries(now).filter(([name, value]) => value !== (fact[name] ?? "")));
      if (Object.keys(changed).length) settle({ correct: changed, score: 9 });
      else draw();
    } }, h("div", { class: "fields" }, field("subject"), field("relation"), field("object")),
    h("div", { class: "bar" }, h("button", { class: "main" }, "Save correction"), h("button", { type: "button", class: "quiet", onclick: draw }, "Cancel")));
    show(place, h("div", { class: "card fact" }, form, quote(fact)));
    $("input", form).focus();
  };
  draw();
  return {
    key: (key) => {
      if (/^[0-9]$/.test(key)) rate(Number(key));
      else if (key === "c") correct();
      else if (key === "x") rate(0);
      else if (key === "s") skip();
      else if (key === "u") undo();
      else return false;
      return true;
    },
  };
}

const triple = (fact) => h("p", { class: "triple" }, fact.subject, " ", h("em", {}, fact.relation), " ", fact.object);
const button = (label, key, act, more = "") => h("button", { type: "button", class: more, onclick: act }, label, key ? h("kbd", {}, key) : null);

function quote(fact) {
  if (!fact.sentence) return null;
  const place = fact.object ? fact.sentence.toLowerCase().indexOf(fact.object.toLowerCase()) : -1;
  const inner = place < 0 ? [fact.sentence] : [fact.sentence.slice(0, place),
    h("mark", {}, fact.sentence.slice(place, place + fact.object.length)), fact.sentence.slice(place + fact.object.length)];
  return h("blockquote", { class: "quote" }, inner, fact.speaker ? ` — ${fact.speaker}` : "");
}

function source(fact) {
  return h("p", { class: "meta" }, h("span", {}, fact.type), h("span", {}, `confidence ${Math.round(100 * fact.confidence)} %`),
    h("a", { href: recordPath(fact.entry_id) }, fact.topic), fact.entry_ts ? h("span", {}, dayOf(fact.entry_ts)) : null,
    fact.evidence_count > 1 ? h("span", {}, `said ${fact.evidence_count} times`) : null, fact.trust === "outside" ? h("span", { class: "sunk-note" }, "from outside") : null);
}

// Contradictions

function contradictions(place, data) {
  const draw = () => show(place, data.contradictions.length ? data.contradictions.map((pair) => {
    const answer = (holds) => post("settle", { new: pair.newer.claim, old: pair.older.claim, holds });
    const settle = async (holds) => {
      try {
        await answer(holds);
        data.contradictions.splice(data.contradictions.indexOf(pair), 1);
        draw();
        toast("Settled", { undo: async () => {
          await answer("open");
          data.contradictions.unshift(pair);
          draw();
        } });
      } catch (error) {
        toast(error.message, { bad: true });
      }
    };
    const side = (claim, name) => h("div", { class: "card" }, h("h2", {}, name), h("blockquote", { class: "quote" }, claim.sentence),
      h("p", { class: "meta" }, h("span", {}, dayOf(claim.said)), h("a", { href: recordPath(claim.record) }, claim.title), h("span", {}, claim.kind),
        projectOf(claim.project), claim.trust === "user" ? null : h("span", { class: "sunk-note" }, `by ${claim.trust}`)));
    return h("div", { class: "proposal" }, h("div", { class: "pair" }, side(pair.older, "Before"), side(pair.newer, "Later")),
      h("div", { class: "bar" }, button("The older holds", "", () => settle("old")), button("The newer holds", "", () => settle("new"), "main"),
        button("Both, each in its scope", "", () => settle("both"))));
  }) : empty("No two statements contradict each other. When two do, they stand here side by side, and you say which holds."));
  draw();
  return {};
}

// Merges

function merges(place) {
  const ask = async () => {
    show(place, empty("Comparing all notes…"));
    try {
      draw(await post("reflect"));
    } catch (error) {
      show(place, empty(error.message));
    }
  };
  const draw = (found) => {
    const all = [...(found.merges ?? []), ...(found.insights ?? [])];
    show(place, all.length ? all.map((one) => proposal(one, () => { all.splice(all.indexOf(one), 1); draw({ merges: all }); }))
      : empty("No two notes are alike enough to be one."));
  };
  show(place, h("div", { class: "card fact" }, h("p", {}, "Compare all notes by meaning and propose which are one and the same, and which together teach something. Nothing changes until you accept it."),
    h("div", { class: "bar" }, h("button", { type: "button", class: "main", onclick: ask }, "Look for proposals"))));
  return {};
}

function proposal(one, gone) {
  const accept = async () => {
    try {
      const kept = await post("accept", { proposal: one.key });
      gone();
      toast("Done", one.absorb ? { undo: () => post("unmerge", { absorbed: one.absorb }).catch((error) => toast(error.message, { bad: true })) } : {});
      return kept;
    } catch (error) {
      toast(error.message, { bad: true });
    }
  };
  const name = (id) => {
    const link = h("a", { href: recordPath(id) }, id);
    get("views/record", { id, again: true }).then((found) => { link.textContent = found.title; }, () => {});
    return link;
  };
  return h("div", { class: "card proposal" },
    one.absorb ? h("div", { class: "pair" }, h("div", {}, h("h2", {}, "Keep"), name(one.keep)), h("div", {}, h("h2", {}, "Merge into it"), name(one.absorb)))
      : [h("h2", {}, one.title), h("p", { class: "small" }, one.text)],
    h("p", { class: "meta" }, one.why ?? null, one.similarity ? h("span", {}, `${Math.round(100 * one.similarity)} % alike`) : null),
    h("div", { class: "bar" }, h("button", { type: "button", class: "main", onclick: accept }, one.absorb ? "Merge" : "Keep this insight"),
      h("button", { type: "button", onclick: gone }, "Not now")));
}
