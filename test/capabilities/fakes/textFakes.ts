import { type Fake, good, instead } from "./fake.ts";

const summary = good("text.summarize.short");
const source = (summary.params as { text: string }).text;
const sentences = source.match(/[^.!?]+[.!?]+/g) ?? [];
const middle = (sentences[2] as string).trim();
const translation = good("text.translate.en.it.business");
const italian = (translation.output as { text: string }).text;
const rewrite = good("text.rewrite.formal");
const casual = (rewrite.params as { text: string }).text;
const formal = (rewrite.output as { text: string }).text;
const audio = good("audio.transcribe.json-with-timestamps");
const review = good("code.review.python");
const search = good("data.lookup.web-search");

const article: Fake["params"] = {
  text: "The harbour of the old town froze for the first time in forty years. Fishermen walked across the ice to their boats, and children skated between the piers. The mayor warned that the surface was thin near the river, where warmer water flows in. Shops sold out of gloves within a day, and the ferry company cancelled all crossings until further notice. Meteorologists expect the cold to last for another week before milder air arrives from the west.",
};
const half = (text: string): string => text.slice(0, text.length / 2);
const everySecond = (own: string, other: string): string => {
  const foreign = other.split(" ");
  return own
    .split(" ")
    .map((word, at) => (at % 2 ? (foreign[at] ?? word) : word))
    .join(" ");
};
const plainEnglish =
  "The committee approved the annual budget after several hours of heated debate, although many members wanted further changes before summer.";
const plainItalian =
  "Il comitato ha approvato il bilancio annuale dopo diverse ore di acceso dibattito, anche se molti membri volevano altre modifiche prima dell'estate.";
const translate = (name: string, text: string, verdict: Fake["verdict"] = "refused"): Fake => ({
  name,
  id: "text.translate.en.it",
  params: { text: plainEnglish },
  output: { text },
  verdict,
});
const translated = (
  name: string,
  pair: string,
  text: string,
  answer: string,
  verdict: Fake["verdict"] = "refused",
): Fake => ({ name, id: `text.translate.${pair}`, params: { text }, output: { text: answer }, verdict });
const summarize = (name: string, text: string, verdict: Fake["verdict"] = "refused"): Fake => ({
  name,
  id: "text.summarize.medium",
  params: article,
  output: { summary: text },
  verdict,
});

export const textFakes: Fake[] = [
  instead(summary, "the first sentence in letters of another alphabet", {
    summary: (sentences[0] as string).trim().replaceAll("a", "\u0430").replaceAll("e", "\u0435"),
  }),
  instead(summary, "an excuse", { summary: "I am sorry, but I cannot summarise this text for you." }),
  instead(summary, "the first sentence", { summary: (sentences[0] as string).trim() }),
  summarize(
    "a sentence from the middle",
    "The mayor warned that the surface was thin near the river, where warmer water flows in.",
  ),
  summarize(
    "the beginning after an additional word",
    "And the harbour of the old town froze for the first time in forty years. Fishermen walked across the ice to their boats.",
  ),
  summarize(
    "the middle with one word changed",
    "Children skated between the piers. The mayor said that the surface was thin near the river, where warmer water flows in.",
  ),
  summarize("nothing", ""),
  summarize("the same word again and again", "Harbour ".repeat(14)),
  summarize(
    "another subject",
    "Honeybees keep their brood warm by shivering, and cool it by evaporating water that other workers carry in.",
  ),
  summarize(
    "an invented number",
    "After 1875 frozen harbour days the mayor warned fishermen and children, and the ferry company cancelled crossings.",
  ),
  summarize(
    "cut off",
    "The harbour froze, the ferry company cancelled all crossings, and meteorologists expect the",
  ),
  summarize(
    "in another language",
    "Il porto è gelato per la prima volta in quarant'anni, i pescatori camminano sul ghiaccio e i traghetti sono fermi.",
  ),
  summarize(
    "the opposite meaning",
    "The harbour did not freeze, the ferry company kept its crossings, and meteorologists expect milder weather at once.",
    "passes",
  ),
  instead(
    summary,
    "two sentences of the source together",
    {
      summary: `${middle} ${(sentences[0] as string).trim()}`,
    },
    "passes",
  ),
  translate("every second word in English", everySecond(plainItalian, plainEnglish)),
  translate("not translated", plainEnglish),
  translate("half of it", half(plainItalian)),
  translate(
    "translated into Spanish",
    "El comité aprobó el presupuesto anual después de varias horas de debate, aunque muchos miembros querían otros cambios antes del verano.",
  ),
  translate("a word repeated", "bilancio ".repeat(20)),
  translate("nothing", "   "),
  translate(
    "the opposite meaning",
    "Il comitato ha respinto il bilancio annuale dopo pochi minuti di calma, anche se nessun membro voleva altre modifiche prima dell'inverno.",
    "passes",
  ),
  translate(
    "another Italian sentence of the same length",
    "La nave è partita dal porto con molte ore di ritardo, mentre i passeggeri aspettavano al freddo e nessuno sapeva dire quando sarebbe tornata.",
    "passes",
  ),
  instead(translation, "another amount", { text: italian.replace("1.240,50", "9.240,50") }),
  instead(translation, "another address", { text: italian.replace("billing@", "pay@") }),
  instead(translation, "cut off", { text: italian.slice(0, -20) }),
  instead(rewrite, "twice", { text: `${formal} ${formal}` }),
  instead(
    rewrite,
    "with the words of an assistant",
    { text: `Certainly! Here is the text: ${formal}` },
    "passes",
  ),
  instead(rewrite, "the same text", { text: casual }),
  instead(rewrite, "only upper case", { text: casual.toUpperCase() }),
  instead(rewrite, "without the number", { text: formal.replaceAll("300", "some") }),
  instead(rewrite, "without the link", { text: formal.replace(/https?:\S+/, "our page") }),
  instead(rewrite, "something else", {
    text: "It would be our pleasure to welcome you to the annual dinner of the society, with music and dancing.",
  }),
  {
    name: "a long message of a chat, cut off",
    id: "text.rewrite.casual",
    params: {
      text: "We regret to inform you that the meeting of the committee on Thursday has been moved to next Monday, because the large hall of the library is being painted this week.",
    },
    output: {
      text: "Hey, sorry, but the committee meeting on Thursday got moved to next Monday at the same time, since the large hall of the library is being painted this",
    },
    verdict: "refused",
  },
  instead(rewrite, "one word changed", { text: casual.replace("Hey", "Hello") }, "passes"),
  instead(audio, "sounds in brackets", {
    segments: [{ start_ms: 0, end_ms: 28_000, text: "[music] [applause] (inaudible)" }],
  }),
  instead(audio, "one sentence again and again", {
    segments: [0, 1, 2, 3, 4, 5].map((at) => ({
      start_ms: at * 4000,
      end_ms: at * 4000 + 4000,
      text: "Thank you for watching.",
    })),
  }),
  instead(audio, "everything in one second", {
    segments: [
      {
        start_ms: 0,
        end_ms: 1000,
        text: "Four score and seven years ago our fathers brought forth on this continent a new nation",
      },
    ],
  }),
  instead(audio, "noise words", { segments: [{ start_ms: 0, end_ms: 28_000, text: "... --- ..." }] }),
  instead(audio, "only the first two seconds", {
    segments: [{ start_ms: 0, end_ms: 2000, text: "Four score and seven years" }],
  }),
  instead(
    audio,
    "an unrelated transcript",
    {
      segments: [
        {
          start_ms: 0,
          end_ms: 9000,
          text: "Welcome back to the gardening hour, where we talk about roses and rain",
        },
        {
          start_ms: 9000,
          end_ms: 18_000,
          text: "Today we will look at the best way to prune them in late winter",
        },
        {
          start_ms: 18_000,
          end_ms: 27_000,
          text: "and then we answer the letters that you have sent to us this week",
        },
      ],
    },
    "passes",
  ),
  instead(review, "a line of the code itself", {
    findings: [{ severity: "high", line: 1, message: "import pickle" }],
  }),
  instead(review, "advice that fits everywhere", {
    findings: [{ severity: "medium", line: 1, message: "Consider adding docstrings and type hints." }],
  }),
  instead(review, "praise", {
    findings: [{ severity: "info", line: 1, message: "This looks good to me overall." }],
  }),
  instead(review, "the same finding for every line", {
    findings: [1, 3, 4, 5].map((line) => ({
      severity: "low",
      line,
      message: "Consider adding more tests for pickle.",
    })),
  }),
  instead(review, "a finding after the last line", {
    findings: [{ severity: "high", line: 4000, message: "pickle.loads is not safe here." }],
  }),
  instead(review, "a finding about an empty line", {
    findings: [{ severity: "high", line: 2, message: "pickle.loads is not safe here." }],
  }),
  instead(review, "no finding in faulty code", { findings: [] }, "passes"),
  instead(
    review,
    "an invented fault",
    {
      findings: [
        { severity: "critical", line: 8, message: "The function average divides by the wrong variable." },
      ],
    },
    "passes",
  ),
  instead(search, "a private address in IPv6", {
    results: [{ url: "http://[::ffff:10.0.0.1]/merkle", title: "Merkle tree", snippet: "consistency proof" }],
  }),
  instead(search, "a known host as the user in a URL", {
    results: [
      { url: "https://rfc-editor.org@a.example/m", title: "Merkle tree", snippet: "consistency proof" },
    ],
  }),
  instead(search, "nothing", { results: [] }),
  instead(search, "a page on the buyer's own machine", {
    results: [{ url: "http://127.0.0.1/merkle", title: "Merkle tree", snippet: "consistency proof" }],
  }),
  instead(search, "one page three times", {
    results: ["", "#a", "#b"].map((end) => ({
      url: `https://a.example/merkle${end}`,
      title: "Merkle tree",
      snippet: "proof",
    })),
  }),
  instead(search, "pages of something else", {
    results: ["cats", "dogs"].map((pet) => ({
      url: `https://${pet}.example/`,
      title: `All about ${pet}`,
      snippet: "Pets.",
    })),
  }),
  instead(
    search,
    "invented pages about the query",
    {
      results: [
        {
          url: "https://no-such-page.example/merkle",
          title: "Merkle tree consistency proof",
          snippet: "All of it.",
        },
      ],
    },
    "passes",
  ),
  {
    name: "a title in capital letters with one Russian letter",
    id: "text.translate.en.ru",
    params: { text: "NEW TERMS OF SERVICE APPLY FROM MAY ONWARDS" },
    output: { text: "NEW TERMS OF SERVICE APPLY и FROM MAY ONWARDS" },
    verdict: "refused",
  },
  translated(
    "a sentence with capital letters and one Russian letter",
    "en.ru",
    "New Terms of Service Apply from May Onwards",
    "New Terms Service Apply May Onwards и",
  ),
  translated(
    "a headline without three small words, and one Japanese sign",
    "en.ja",
    "Prime Minister Visits Paris for Climate Talks",
    "Prime Minister Visits Paris Climate Talks の",
  ),
  translated(
    "a headline with one word of it in Russian",
    "en.ru",
    "Government Announces New Budget for Schools and Hospitals",
    "Government Announces New Budget Schools и больниц",
    "passes",
  ),
  translated(
    "another round number, beside a word for percent",
    "en.it",
    "We owe you 300 euros, which is twelve percent of the whole sum of the contract.",
    "Vi dobbiamo 900 euro, che sono il dodici per cento della somma totale del contratto.",
  ),
  translated(
    "another number in words",
    "en.de",
    "More than 300 people came to the meeting in the town hall.",
    "Mehr als neunhundert Menschen kamen zu der Versammlung im Rathaus.",
  ),
  translated(
    "a date that only shares its last digits",
    "en.de",
    "The contract from 2020-05-01 ends after twenty days in the summer of this year.",
    "Der Vertrag endet nach 20 Tagen im Sommer dieses Jahres, wie am 05-01 vereinbart.",
  ),
  translated(
    "cut off after a link in Japanese",
    "en.ja",
    "For details, please see https://example.com/docs and ask the team at any time.",
    "詳細はhttps://example.com/docsをご覧になり、いつで",
  ),
  summarize(
    "cut off, with the sign of a list before it",
    "- The harbour froze, the ferry company cancelled all crossings, and meteorologists expect the",
  ),
  summarize(
    "a list that is cut off",
    "- The harbour froze for days.\n- The ferry company cancelled all crossings.\n- Meteorologists expect the",
  ),
  instead(audio, "many short segments without a length", {
    segments: Array.from({ length: 12 }, (_, at) => ({ start_ms: 0, end_ms: at, text: `word${at}` })),
  }),
  instead(review, "two words of the code", {
    findings: [{ severity: "high", line: 1, message: "pickle.loads" }],
  }),
  {
    name: "English as a language that the checks do not know",
    id: "audio.transcribe.json-with-timestamps",
    params: { audio_url: "https://example.com/a.mp3" },
    output: {
      language: "ka",
      segments: [{ start_ms: 0, end_ms: 5000, text: "Good morning everybody and welcome to the show." }],
    },
    verdict: "passes",
  },
];
