type Errors = { errors?: { extensions: { code: string } }[] };

/** Subscribes to a field over server-sent events and gives one event after the other, until the signal ends it. */
export async function* followEvents<Event>(
  graphqlUrl: string,
  field: string,
  signal: AbortSignal,
): AsyncGenerator<Event & Errors, void> {
  const response = await fetch(graphqlUrl, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ query: `subscription { happening: ${field} }` }),
    signal,
  });
  let text = "";
  for await (const chunk of (response.body as ReadableStream<BufferSource>).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const data = /^data: (.+)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data === undefined) continue;
      const { data: answer, errors } = JSON.parse(data);
      yield errors ? { errors, ...answer?.happening } : answer.happening;
    }
  }
}
