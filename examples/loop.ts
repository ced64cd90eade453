// A whole agent: a model, its tools behind Toolgate's gate, and the loop between them.
//
//   export TOOLGATE_URL=http://127.0.0.1:8765 TOOLGATE_TOKEN=…
//   OPENAI_API_KEY=… npx tsx loop.ts openai "Which files here have no tests?"
//   ANTHROPIC_API_KEY=… npx tsx loop.ts anthropic "Which files here have no tests?"
//
// It needs `npm install openai @anthropic-ai/sdk tsx`. MODEL names another model.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

/** Asks Toolgate: a POST where there is a body, else a GET. */
async function gate(path: string, body?: unknown): Promise<any> {
  const answer = await fetch(process.env.TOOLGATE_URL + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${process.env.TOOLGATE_TOKEN}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Runs the calls in what the model said; waits while a person decides. */
async function run<Message>(session: string, format: string, turn: number, said: unknown): Promise<Message[]> {
  for (;;) {
    const answer = await gate(`/v1/sessions/${session}/turns?format=${format}&turn=${turn}&wait_ms=30000`, said);
    if (answer.messages) return answer.messages;
    console.error("waiting for a person to decide");
  }
}

async function openaiLoop(session: string, tools: OpenAI.ChatCompletionTool[], task: string) {
  const [client, model] = [new OpenAI(), process.env.MODEL ?? "gpt-5.5"];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: task }];
  for (;;) {
    const message = (await client.chat.completions.create({ model, messages, tools })).choices[0]!.message;
    messages.push(message);
    const results = await run<OpenAI.ChatCompletionMessageParam>(session, "openai", messages.length, message);
    if (results.length === 0) return message.content;
    messages.push(...results);
  }
}

async function anthropicLoop(session: string, tools: Anthropic.Tool[], task: string) {
  const [client, model] = [new Anthropic(), process.env.MODEL ?? "claude-sonnet-4-5"];
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: task }];
  for (;;) {
    const { role, content } = await client.messages.create({ model, max_tokens: 8192, messages, tools });
    messages.push({ role, content });
    const results = await run<Anthropic.MessageParam>(session, "anthropic", messages.length, { role, content });
    if (results.length === 0) return content.map((block) => (block.type === "text" ? block.text : "")).join("");
    messages.push(...results);
  }
}

const [format, task] = process.argv.slice(2) as ["openai" | "anthropic", string];
const { session_id } = await gate("/v1/sessions", { labels: { task: task.slice(0, 60) } });
const { tools } = await gate(`/v1/sessions/${session_id}/tools?format=${format}`);
console.log(await { openai: openaiLoop, anthropic: anthropicLoop }[format](session_id, tools, task));
