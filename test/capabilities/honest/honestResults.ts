import { good } from "../fakes/fake.ts";

/** Results that honest sellers in different countries may send. All of them must pass. */
export type Honest = { name: string; id: string; params: unknown; output: unknown };

const translate = (pair: string, text: string, translation: string): Honest => ({
  name: `${pair}: ${text.slice(0, 40)}`,
  id: `text.translate.${pair}`,
  params: { text },
  output: { text: translation },
});
const rewrite = (name: string, text: string, rewritten: string): Honest => ({
  name,
  id: "text.rewrite.formal",
  params: { text },
  output: { text: rewritten },
});
const summarize = (name: string, text: string, summary: string): Honest => ({
  name,
  id: "text.summarize.medium",
  params: { text },
  output: { summary },
});
const ASKED_AT = 1_772_704_800; // 2026-03-05T10:00:00Z
const weather = (asked: string, location: string, observed_at: string, conditions = "Clear sky"): Honest => ({
  name: `${asked}, answered as ${location} at ${observed_at}`,
  id: "data.lookup.weather.json",
  params: { location: asked, asked_at: ASKED_AT },
  output: { location, observed_at, temperature_c: 9.5, conditions },
});
const weatherText = (location: string, text: string): Honest => ({
  name: text,
  id: "data.lookup.weather.summary-text",
  params: { location },
  output: { text },
});
const extract = (url: string, answered: string, extracted: { [field: string]: unknown }): Honest => ({
  name: `${answered}: ${Object.keys(extracted)}`,
  id: "data.extract.from-url",
  params: { url, fields: Object.keys(extracted), asked_at: ASKED_AT },
  output: { url: answered, extracted, confidence: 0.9, extracted_at: "2026-03-05T19:00:00,250+09:00" },
});
const search = (query: string, titles: string[]): Honest => ({
  name: query,
  id: "data.lookup.web-search",
  params: { query },
  output: {
    results: titles.map((title, at) => ({ url: `https://example.com/${at}`, title, snippet: "" })),
  },
});
type Run = { language?: string; stdin?: string; stderr?: string; exit_code?: number };
const run = (
  name: string,
  code: string,
  stdout: string,
  { language = "python", stdin = "", ...answered }: Run = {},
): Honest => ({
  name,
  id: "code.execute.sandboxed",
  params: { code, language, stdin },
  output: { stdout, stderr: "", exit_code: 0, duration_ms: 80, truncated: false, ...answered },
});
const review = (name: string, code: string, message: string): Honest => ({
  name,
  id: "code.review",
  params: { code },
  output: { findings: [{ severity: "high", line: 1, message }] },
});
const share = (ticker: string, answered: object): Honest => ({
  name: `${ticker}: ${JSON.stringify(answered)}`,
  id: "data.lookup.stock-price",
  params: { ticker, asked_at: ASKED_AT },
  output: { ticker, price: 500, currency: "USD", timestamp: ASKED_AT - 60, ...answered },
});
const classified = (kind: string, text: string, output: object): Honest => ({
  name: text,
  id: `classify.text.${kind}`,
  params: { text },
  output: { confidence: 0.9, ...output },
});
const EOF_ERROR = { exit_code: 1, stderr: "EOFError: EOF when reading a line" };
const drawing = (
  name: string,
  inner: string,
  params: object = {},
  frame = 'viewBox="0 0 100 100"',
): Honest => ({
  name,
  id: "image.generate.illustration.svg",
  params: { prompt: "a sign", ...params },
  output: { svg: `<svg xmlns="http://www.w3.org/2000/svg" ${frame}>${inner}</svg>` },
});
const shapes =
  '<circle class="a" cx="20" cy="20" r="9"/><rect class="b" x="40" y="40" width="9" height="9"/><path d="M1 1h9v9z"/>';
const petals = Array.from(
  { length: 12 },
  (_, at) => `<use href="#petal" transform="rotate(${at * 30} 50 50)"/>`,
);

export const honestResults: Honest[] = [
  translate(
    "en.de",
    "The factory sold 1,240,500 bicycles in 2025, which is 12.75 percent more than in the year before, and earned $3,250.50 for each of its workers.",
    "Die Fabrik verkaufte im Jahr 2025 1.240.500 Fahrräder, das sind 12,75 Prozent mehr als im Jahr davor, und verdiente 3.250,50 $ für jeden ihrer Arbeiter.",
  ),
  translate(
    "en.fr",
    "“The museum received 2,500,000 visitors last year,” said the director, “and the new hall will open on 12/31/2026 at 2:30 pm.”",
    "« Le musée a reçu 2,5 millions de visiteurs l’année dernière », a déclaré le directeur, « et la nouvelle salle ouvrira le 31/12/2026 à 14 h 30. »",
  ),
  translate(
    "de.en",
    "Die Sitzung beginnt am 31.12.2026 um 14.30 Uhr im großen Saal des Rathauses, und alle 350 Mitglieder des Vereins sind herzlich eingeladen.",
    "The meeting begins on December 31, 2026 at 2:30 pm in the large hall of the town hall, and all 350 members of the association are warmly invited.",
  ),
  translate(
    "de.en",
    "Das Haus in Zürich wurde für 1’250’000 Franken verkauft, obwohl der Gutachter es im Frühling nur auf 980’000 Franken geschätzt hatte.",
    "The house in Zurich was sold for 1,250,000 francs, although the surveyor had valued it at only 980,000 francs in the spring.",
  ),
  translate(
    "en.it",
    "The bridge is 1,200.50 metres long, cost 100 million euros to build, and can be read about at “https://example.com/bridge”.",
    "Il ponte è lungo 1.200,5 metri, la sua costruzione è costata cento milioni di euro e se ne può leggere su «https://example.com/bridge».",
  ),
  translate(
    "en.es",
    "The government will spend 3,000,000,000 dollars on new railways before 2030, according to a report of 250 pages that was published on Monday.",
    "El gobierno gastará 3 mil millones de dólares en nuevos ferrocarriles antes de 2030, según un informe de 250 páginas que se publicó el lunes.",
  ),
  translate(
    "en.pl",
    "The library bought 15,000 new books this year, and more than 120,500 readers borrowed at least one of them before the summer holidays began.",
    "Biblioteka kupiła w tym roku 15 000 nowych książek, a ponad 120 500 czytelników wypożyczyło co najmniej jedną z nich przed rozpoczęciem wakacji letnich.",
  ),
  translate(
    "en.ja",
    "The city has 1,500,000 inhabitants, and the new railway station, which opened in 2024, is used by 250,000 people every single day.",
    "この都市の人口は150万人で、2024年に開業した新しい駅は毎日25万人に利用されています。",
  ),
  translate(
    "en.zh",
    "The company has 250 million users in the world and wants to invest 3,000,000,000 dollars in its new laboratories by the end of 2027.",
    "该公司在全球拥有2.5亿用户，并计划在2027年底之前向其新实验室投资30亿美元。",
  ),
  translate(
    "en.ar",
    "The old harbour was built in 1958, and about 12,500 ships from all over the world visit it every year to load grain and timber.",
    "بُني الميناء القديم في عام ١٩٥٨، وتزوره كل عام حوالي ١٢٬٥٠٠ سفينة من جميع أنحاء العالم لتحميل الحبوب والأخشاب.",
  ),
  translate(
    "en.hi",
    "The farmers of the district harvested 1,234,567 tonnes of rice in 2025, although the rains of the summer came several weeks too late.",
    "जिले के किसानों ने 2025 में 12,34,567 टन चावल की फसल काटी, हालांकि गर्मियों की बारिश कई सप्ताह देर से आई।",
  ),
  translate(
    "en.ru",
    "The festival sold 45,300 tickets within 100 minutes, and the organisers expect 2.5 million viewers of the broadcast in 2027.",
    "Фестиваль продал 45 300 билетов за сто минут, и организаторы ожидают 2,5 млн зрителей трансляции в 2027 году.",
  ),
  translate(
    "en.ja",
    "Japan has 125 million people and 15,200 railway stations.",
    "日本には1億2500万人の人口と1万5200の鉄道駅があります。",
  ),
  translate(
    "ja.en",
    "日本には1億2500万人の人口と1万5200の鉄道駅があります。",
    "Japan has 125 million people and 15,200 railway stations.",
  ),
  translate(
    "en.ko",
    "Last year 150,000,000 people used the new railway.",
    "작년에 1억 5천만 명이 새로운 철도를 이용했습니다.",
  ),
  translate(
    "en.fi",
    "The museum received 2,500,000 visitors last year, more than ever before.",
    "Museossa kävi viime vuonna 2,5 miljoonaa kävijää, enemmän kuin koskaan aiemmin.",
  ),
  translate(
    "en.hi",
    "The museum received 2,500,000 visitors last year, more than ever before.",
    "संग्रहालय में पिछले साल 25 लाख आगंतुक आए, जो पहले से कहीं अधिक हैं।",
  ),
  translate(
    "en.de",
    "The meeting with the council starts at 2.30 pm in the large hall of the town hall.",
    "Die Sitzung mit dem Stadtrat beginnt um 14.30 Uhr im großen Saal des Rathauses.",
  ),
  translate(
    "en.ru",
    "Details: https://example.com/docs/getting-started",
    "Подробности: https://example.com/docs/getting-started",
  ),
  translate("en.ru", "Install Visual Studio Code on Windows.", "Установите Visual Studio Code в Windows."),
  translate(
    "en.ja",
    "Install Visual Studio Code on Windows.",
    "WindowsにVisual Studio Codeをインストールする。",
  ),
  translate("en.ja", "Closed over the New Year holidays", "年末年始休業期間"),
  translate("en.de", "Bye", "Auf Wiedersehen"),
  translate("de.en", "Auf Wiedersehen", "Bye"),
  translate("en.no", "This item is currently sold out.", "Denne varen er for tiden utsolgt."),
  translate("en.he", "The shop is closed today and tomorrow.", "החנות סגורה היום ומחר.\u200f"),
  rewrite("a word of a chat", "thx", "Thank you very much."),
  rewrite(
    "a request of a chat",
    "can u send me the doc asap?",
    "Would you kindly send me the document at your earliest convenience?",
  ),
  rewrite(
    "slang that reads as another language",
    "ngl that gig last nite was lit af, u missed out big time",
    "I must admit that the concert last night was excellent, and you truly missed a great deal.",
  ),
  {
    name: "an emoji at the end",
    id: "text.rewrite.casual",
    params: { text: "The meeting of all 10,000 members will begin at nine in the morning." },
    output: { text: "Hey, the meeting with all 10k members begins at nine tomorrow morning! 😊👍🏽" },
  },
  rewrite(
    "French, with other spaces in its numbers and other quotation marks",
    'Salut ! On a vendu 1 250 000 places pour le concert du 5.7.2026, c\'est "dingue", et tout le monde est super content du résultat.',
    "Nous avons le plaisir de vous informer que 1\u202f250\u202f000 billets ont été vendus pour le concert du 5 juillet 2026, un résultat « remarquable » dont chacun se réjouit.",
  ),
  rewrite(
    "German, with Millionen in a number",
    "Hey, wir haben letztes Jahr echt 2.500.000 Euro gemacht, Wahnsinn, und der Chef will 2026 noch mehr von uns allen sehen.",
    "Im vergangenen Jahr haben wir einen Umsatz von 2,5 Millionen Euro erzielt; die Geschäftsleitung erwartet für das Jahr 2026 eine weitere Steigerung.",
  ),
  summarize(
    "German, with Millionen in a number and without the date",
    "Am 12.05.2026 eröffnete die Stadt das neue Museum am Fluss. Der Bau kostete 12.500.000 Euro und dauerte fast sieben Jahre, weil der Boden feucht war und die Pläne zweimal geändert werden mussten. Die Direktorin rechnet mit 300.000 Besuchern im Jahr. Viele Anwohner freuen sich über den neuen Park, andere klagen über den Lärm der Busse, die nun den ganzen Tag vor ihren Fenstern halten.",
    "Das neue Museum kostete 12,5 Millionen Euro und erwartet 300 000 Besucher; die Anwohner sind geteilter Meinung.",
  ),
  summarize(
    "Italian, a time with a point in place of the source's colon",
    "Il comune ha approvato ieri, dopo una seduta iniziata alle 18:30 e finita a notte fonda, il nuovo piano del traffico per il centro storico. Le auto private potranno entrare soltanto nelle prime ore del mattino, mentre i residenti riceveranno un permesso annuale gratuito. I commercianti temono di perdere clienti e hanno annunciato una protesta davanti al municipio per la prossima settimana. Gli ambientalisti parlano invece di una giornata storica per la salute di tutti i cittadini.",
    "Nella seduta delle 18.30 il comune ha limitato le auto private in centro; protestano i commercianti.",
  ),
  weather("Tokyo", "Tokyo, Japan", "2026-03-05T18:30:00+09:00"),
  weather("Honolulu", "Honolulu, HI", "2026-03-04T23:30:00-10:00"),
  weather("Mumbai", "Mumbai", "2026-03-05T15:00:00,5+0530"),
  weather("Tromsø", "Tromso, Norway", "2026-03-05T09:00Z", "Schneefall"),
  weather("Lodz", "Łódź", "2026-03-05T09:00:00Z", "Pochmurno"),
  weather("Cologne, Germany", "Köln, Deutschland", "2026-03-05T10:00:00+01:00", "Bewölkt"),
  weather("København", "Copenhagen, DK", "2026-03-05T09:30:00Z", "Overskyet"),
  weather("Zürich", "Zuerich", "2026-03-05T09:30:00Z"),
  weather("Sao Paulo, Brazil", "São Paulo", "2026-03-05T07:00:00-03:00", "晴れ渡る空"),
  weather("Perth, Australia", "Perth, WA, Australia", "2026-03-05T17:30:00+08:00"),
  weather("Milan, Italy", "Milano, MI, Italia, IT", "2026-03-05T10:30:00+01:00"),
  weather("St. John's, Canada", "St. John's, NL, CA", "2026-03-05T06:00:00-03:30"),
  weather("Chennai, India", "Chennai, TN, IN", "2026-03-05T15:00:00+05:30"),
  weather("Perth, Australia", "Perth, WA, Australia", "2026-03-05T18:00:00+08:00"),
  weather("Milan, Italy", "Milano, MI, Italy", "2026-03-05T11:00:00+01:00"),
  weather("Chennai, India", "Chennai, TN, IN", "2026-03-05T15:30:00+05:30"),
  weather("Perth, WA", "Perth, Australia", "2026-03-05T18:00:00+08:00"),
  weather("St. Louis, MO 63101", "Saint Louis, Missouri", "2026-03-05T09:30:00Z"),
  weather("Bangalore", "Bengaluru, India", "2026-03-05T09:30:00Z"),
  weather("Москва", "Moscow, RU", "2026-03-05 13:00:00+03"),
  weather("48.8566, 2.3522", "Paris, France", "2026-03-05T10:00:00Z"),
  weather("Tokyo", "Tokyo, Japan", "2026-03-05T18:30", "晴れ"),
  weather("Delhi", "Delhi, India", "2026-03-05T15:30", "बारिश"),
  {
    name: "the noon of a day in Auckland, in UTC",
    id: "data.lookup.weather.json",
    params: { location: "Auckland", date: "2026-03-05" },
    output: {
      location: "Auckland",
      observed_at: "2026-03-04T23:00:00Z",
      temperature_c: 19,
      conditions: "Sunny",
    },
  },
  weatherText("Oslo, Norway", "Oslo: 9 °C. Wind: NE 5 m/s, SE later. HI 12, LO 3."),
  weatherText("Boston", "Boston has clear skies and 72 degrees."),
  weatherText("Oslo", "It is 1 degree Celsius in Oslo, with wind from 270 degrees."),
  weatherText("Köln, Germany", "In Cologne it is 9 °C."),
  weatherText("東京", "Tokyo has 12 °C and light rain."),
  weatherText("Portland OR", "Portland has light rain and 50°F."),
  weatherText("ROME, ITALY", "ROME, ITALY: 15 °C, NO RAIN, OR A LITTLE."),
  weatherText("Zürich", "In Zurich it is cloudy with 9,5 °C and a light wind."),
  weatherText("Oslo", "Oslo is cold and clear today, at −12\u202f°C."),
  weatherText("Lyon", "It is sunny in Lyon: 21ºC, with some clouds later."),
  weatherText("Osaka", "Light rain in Osaka, and 18℃ in the afternoon."),
  weatherText("Paris, France", "Paris is grey today. It is 9 °C, no rain is expected, or a little at most."),
  weatherText("Portland, Oregon, US", "Portland, OR has light rain, in places hail, at 7 °C."),
  weatherText("Kansas City, Missouri", "Kansas City has light rain, at 7 °C."),
  weatherText("Peru, Indiana, US", "It is cloudy in Peru, Indiana: 7 °C."),
  weatherText("Los Angeles, California, USA", "Los Angeles, CA: 24 °C. No clouds."),
  weatherText("Boston", "Boston has clear skies and 72℉."),
  extract("https://hotel.example/atlanta", "https://hotel.example/atlanta", {
    name: "Hotel Atlanta",
    area_code: "404",
    room: "403",
    website: "https://hotel.example/atlanta",
  }),
  extract("https://shop.example.com", "https://shop.example.com/", {
    title: "Fahrrad „Elster“",
    price_amount: 1299.5,
    price_currency: "EUR",
    availability: "in_stock",
  }),
  extract("https://EXAMPLE.com/café", "https://example.com/caf%C3%A9", {
    headline: "L’« été » commence",
    published_at: "2026-03-05T08:15:30,5+01:00",
    views: "12 500",
  }),
  extract("https://example.jp/商品", "https://example.jp/商品", {
    name: "自転車",
    price_amount: 128_000,
    price_currency: "JPY",
  }),
  search("São Paulo hotéis", ["Hoteis em Sao Paulo", "Os melhores hotéis de São Paulo"]),
  search("html template element", ["<template>: The Content Template element - HTML | MDN"]),
  search("List String Integer Java", ["List<String> vs List<Integer> in Java"]),
  search("cats", ["Cat breeds", "The cat at home"]),
  search("Straße Köln", ["Strassen in Koeln und Köln", "Liste der Straßen von Köln"]),
  search("Crème brûlée", ["Creme brulee, the recipe", "La crème brûlée de ma grand-mère"]),
  search("東京 天気", ["東京の天気予報", "今日の東京"]),
  {
    name: "a flower that draws one petal twelve times",
    id: "image.generate.illustration.svg",
    params: { prompt: "a flower", max_paths: 20 },
    output: {
      svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><defs><path id="petal" d="M50 50 q10 -20 0 -40 q-10 20 0 40 z" fill="#c06"/></defs>${petals.join("")}<circle cx="50" cy="50" r="9" fill="#fc0"/></svg>`,
    },
  },
  drawing("paint in quotes and between spaces", `<g fill="url('#a')" stroke="url( #b )">${shapes}</g>`),
  drawing("colours in a style sheet", `<style>.a{fill:#f00}.b{fill:url("#g")}</style>${shapes}`),
  drawing("black lines only", `<g fill="none" stroke="black">${shapes}</g>`),
  drawing("named Infinity", `<g id="Infinity" aria-label="undefined">${shapes}</g>`),
  drawing("of one path", `<path d="M1 1${"h2v2".repeat(20)}z"/>`),
  drawing("of the one path that was asked", '<path d="M1 1h9v9z"/>', { max_paths: 1 }),
  drawing("as wide as its window", shapes.replaceAll(/"[24]0"/g, '"400"'), {}, 'width="100%" height="100%"'),
  drawing("points without spaces", '<polygon points="10-5 30-6 40-9"/>'.repeat(3), {}, 'viewBox="0 -9 50 9"'),
  run("a prompt before the output", 'n = input("Name? ")\nprint("Hello")', "Name? Hello\n", {
    stdin: "Ada\n",
  }),
  run("dots before the output", 'for i in range(3): print(".", end="")\nprint("done")', "...done\n"),
  run("no input at all", 'name = input()\nprint("Hello", name)', "", EOF_ERROR),
  run("no second line of input", "a = input()\nb = input()\nprint(a, b)", "", {
    stdin: "one\n",
    ...EOF_ERROR,
  }),
  run("line ends of Windows", "print(1)\nprint(2)", "1\r\n2\r\n"),
  run("a text of digits with two names", 'a = "5"\nb = a\nprint(b + b)', "55\n"),
  run("a lost line of a comment", '/*\nconsole.log("debug");\n*/\nconsole.log("done");', "done\n", {
    language: "javascript",
  }),
  run("a format", 'console.log("%d apples", 5);', "5 apples\n", { language: "javascript" }),
  run("an increment", "let a = 5;\nconsole.log(++a);", "6\n", { language: "javascript" }),
  run("a branch without brackets", 'if (1 > 2)\nconsole.log("odd");\nconsole.log("end");', "end\n", {
    language: "javascript",
  }),
  run("an exit code without a call", "process.exitCode = 3;", "", { language: "javascript", exit_code: 3 }),
  run(
    "a missing argument",
    "import argparse\np = argparse.ArgumentParser()\np.add_argument('n')\np.parse_args()",
    "",
    {
      exit_code: 2,
      stderr: "usage: main.py [-h] n",
    },
  ),
  run("an exception in a thread", "import threading\nthreading.Thread(target=lambda: 1 / 0).start()", "", {
    stderr:
      "Exception in thread Thread-1:\nTraceback (most recent call last):\nZeroDivisionError: division by zero",
  }),
  review("in Chinese", "answer = eval(input())", "这里直接执行用户输入的answer，存在代码注入风险"),
  review("of names of one letter", "c = a / b", "Division by zero when b is 0."),
  review("of names with umlauts", "größe = 1", "Die Variable größe wird nie benutzt."),
  review("of a loop without names", "while (true) {}", "This loop never ends and blocks the thread."),
  {
    name: "a review in German",
    id: good("code.review.python").id,
    params: good("code.review.python").params,
    output: {
      findings: [
        {
          severity: "critical",
          line: 5,
          message: "„pickle.loads“ führt Code aus der Datei aus; besser wäre json.",
        },
        { severity: "medium", line: 8, message: "«average» teilt durch null, wenn values leer ist." },
      ],
    },
  },
  extract("https://shop.example.com/lamp", "https://shop.example.com/lamp", {
    title: "Lamp",
    availability: "unknown",
  }),
  share("BRK.B", { ticker: "BRK-B" }),
  share("MSFT", { currency: "usd" }),
  share("900901.SS", { price: 0.7 }),
  share("600519.SS", { price: 1450, currency: "CNY", timestamp: ASKED_AT - 10 * 86_400 }),
  classified("sentiment", "It isn’t perfect and the food wasn’t excellent.", { sentiment: "negative" }),
  classified("sentiment", "Het hotel was verre van perfect, en het ontbijt was ook niet perfect.", {
    sentiment: "negative",
  }),
  classified("sentiment", "The bus leaves at nine.", { sentiment: "neutral", confidence: 0.33 }),
  classified("toxicity", "Do you trash your old phones, or are you a pig farmer?", { toxic: false }),
  classified("toxicity", "I will find you the best price.", { toxic: false }),
  classified("toxicity", "If you want to kill yourself, please call 988 at once.", { toxic: false }),
  {
    name: "a recording in Thai",
    id: "audio.transcribe.json-with-timestamps",
    params: { audio_url: "https://example.com/a.mp3" },
    output: { language: "th", segments: [{ start_ms: 0, end_ms: 4000, text: "สวัสดีครับ วันนี้อากาศดีมาก" }] },
  },
  {
    name: "another code of Norwegian",
    id: "audio.transcribe.no.json-with-timestamps",
    params: { audio_url: "https://example.com/a.mp3" },
    output: {
      language: "nb",
      segments: [
        { start_ms: 0, end_ms: 4000, text: "Møtet er flyttet til torsdag, og vi trenger rapporten." },
      ],
    },
  },
  {
    name: "interpolated in another way",
    id: "compute.statistics.percentile-95",
    params: { data: Array.from({ length: 20 }, (_, at) => (at + 1) ** 2) },
    output: { result: 380.5 },
  },
  {
    name: "in lower case",
    id: "data.lookup.crypto-price",
    params: { symbol: "USDC", vs: "EUR", asked_at: ASKED_AT },
    output: { symbol: "usdc", price: 0.93, vs: "eur", timestamp: ASKED_AT },
  },
];
