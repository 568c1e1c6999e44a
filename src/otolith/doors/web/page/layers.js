// A work in its five layers, a chapter and a wisdom as pages one would read.
import { h } from "./dom.js";
import { dayOf, number, outcome, recordPath } from "./format.js";
import { article } from "./markdown.js";

const section = (name, ...inner) => (inner.flat(3).some(Boolean) ? h("section", { class: "layer" }, h("h2", {}, name), inner) : null);
const text = (value) => (value ? article(value, "prose small", { breaks: true }) : null);
const list = (label, values) => (values?.length ? [h("h3", {}, label), h("ul", { class: "dots" }, values.map((one) => h("li", {}, one)))] : null);
const known = (pairs) => {
  const rows = pairs.filter(([, value]) => value);
  return rows.length ? h("dl", { class: "facts" }, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])) : null;
};
const DID = { file_read: "read", file_edit: "edited", file_create: "created", file_delete: "deleted", command_run: "ran", search: "searched", external_query: "asked" };

export function work({ record }) {
  const { intent, perception = {}, reasoning = {}, actions = [], outcome: came } = record;
  return h("div", { class: "layers" },
    section("Aim", known([["Kind of task", intent.task_type.replaceAll("_", " ")]]), text(intent.context), list("It had to", intent.constraints)),
    section("Seen", (perception.observations ?? []).length ? h("ul", { class: "dots" }, perception.observations.map((one) => h("li", {}, one.what, one.where ? h("code", {}, ` ${one.where}`) : null, one.significance ? h("small", {}, ` ${one.significance}`) : null))) : null,
      files(perception.relevant_files ?? []), list("Patterns", perception.patterns_noticed), list("Odd", perception.anomalies)),
    section("Thought", text(reasoning.approach_chosen), reasoning.why_chosen ? h("p", { class: "small" }, `Because ${reasoning.why_chosen}`) : null,
      (reasoning.alternatives_considered ?? []).length ? [h("h3", {}, "Not taken"), h("ul", { class: "dots" }, reasoning.alternatives_considered.map((one) => h("li", {}, one.approach, one.why_rejected ? h("small", {}, ` ${one.why_rejected}`) : null)))] : null,
      list("Assumed", reasoning.assumptions), list("Risks", reasoning.risks_identified)),
    section("Done", actions.length ? h("ol", { class: "steps" }, actions.slice(0, 200).map(step)) : null),
    section("What came of it", h("p", { class: came.success ? "verdict well" : "verdict badly" }, came.success ? "It worked." : `It did not work${came.failure_category ? ` (${came.failure_category.replaceAll("_", " ")})` : ""}.`),
      text(came.summary), came.failure_reason ? h("p", { class: "notice" }, came.failure_reason) : null, list("Learned", came.learnings), list("Still to do", came.follow_up_needed),
      came.verified_by ? known([["Checked by", came.verified_by.type], ["Command", came.verified_by.command], ["Result", came.verified_by.result]]) : null));
}

const files = (all) => (all.length ? [h("h3", {}, "Files"), h("ul", { class: "dots" }, all.map((one) => h("li", {}, fileLink(one.path), one.relevance ? h("small", {}, ` ${one.relevance}`) : null)))] : null);
const fileLink = (path) => h("code", {}, path);

function step({ type, details = {}, result = {} }) {
  const what = details.file_path ? fileLink(details.file_path) : details.command ? h("code", {}, details.command) : details.query ? h("q", {}, details.query) : null;
  return h("li", {}, h("b", {}, DID[type] ?? type), " ", what, details.diff_summary ? h("p", {}, details.diff_summary) : null,
    result.error ? h("p", { class: "badly" }, result.error) : result.output_summary ? h("p", {}, result.output_summary) : result.success === false ? h("p", { class: "badly" }, "failed") : null);
}

export function story({ record, parts, kind }) {
  const dates = record.start_ts && record.end_ts ? [new Date(1000 * seconds(record.start_ts)).toISOString(), new Date(1000 * seconds(record.end_ts)).toISOString()] : null;
  return h("div", { class: "layers tale" },
    dates ? h("p", { class: "lead" }, dates[0].slice(0, 10) === dates[1].slice(0, 10) ? dayOf(dates[0]) : `${dayOf(dates[0])} to ${dayOf(dates[1])}`) : null,
    article(record.summary, "prose", { breaks: true }),
    section("What it taught", list("", record.learnings), list("Insights", record.insights), list("Patterns", record.patterns), list("Do it like this", record.best_practices)),
    parts.length ? section(kind === "chapter" ? "What happened, in order" : "The chapters it stands on", h("ol", { class: "events" }, parts.map((one) => h("li", {}, h("time", { datetime: one.created }, dayOf(one.created)), h("div", {},
      h("a", { href: recordPath(one.id) }, one.title), one.opening && one.opening !== one.title ? h("p", {}, one.opening) : null, h("p", { class: "meta" }, outcome(one))))))) : null,
    parts.length ? null : h("p", { class: "lead" }, `${number(0)} of what it was drawn from is left.`));
}

const seconds = (value) => (value > 1e11 ? value / 1000 : value); // some homes hold milliseconds
