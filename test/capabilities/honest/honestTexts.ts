import { type Honest, rewrite, summarize, translate } from "./honest.ts";

const article =
  "The town council approved the new traffic plan for the old centre last night after a debate that lasted until midnight. Private cars may enter only in the early hours of the morning, while residents will receive a free permit every year. About three hundred shopkeepers fear that they will lose customers and have announced a protest in front of the town hall next week. Environmental groups call it a historic day for the health of all citizens.";

/** Texts with names of products, decades, numbers in words, greetings, links and lists. */
export const honestTexts: Honest[] = [
  translate("en.ru", "INSTALL VISUAL STUDIO CODE ON WINDOWS", "УСТАНОВИТЕ VISUAL STUDIO CODE В WINDOWS"),
  translate(
    "en.ru",
    "Microsoft Windows Server 2022 Standard Edition License",
    "Лицензия Microsoft Windows Server 2022 Standard Edition",
  ),
  translate(
    "en.ja",
    "Microsoft Windows Server 2022 Standard Edition License",
    "Microsoft Windows Server 2022 Standard Edition ライセンス",
  ),
  translate("en.ru", "Samsung Galaxy S24 Ultra Leather Case", "Кожаный чехол Samsung Galaxy S24 Ultra"),
  translate("en.ko", "Adobe Creative Cloud Pro Annual Plan", "Adobe Creative Cloud Pro 연간 플랜"),
  translate("en.zh", "University admission requirements", "大学入学要求"),
  translate("en.zh", "Ministry of Foreign Affairs", "外交部"),
  translate("en.nl", "Settings and notifications", "Instellingen en meldingen"),
  translate("en.bg", "Add to cart and pay now", "Добави в количката и плати сега"),
  translate("en.ko", "Settings and notifications", "설정 및 알림"),
  translate("en.zh", "See you tomorrow morning!", "明早见！"),
  translate("en.zh", "Congratulations on your graduation!", "恭喜毕业！"),
  translate("en.ko", "Congratulations on your wedding!", "결혼 축하해!"),
  translate("en.ja", "“Nobody knows when the train will come.”", "「列車がいつ来るか誰も知らない」"),
  translate(
    "en.de",
    "She grew up in the 1980s and moved to Berlin in the 1990s.",
    "Sie wuchs in den 80er Jahren auf und zog in den 90er Jahren nach Berlin.",
  ),
  translate(
    "en.zh",
    "The economy of the country grew quickly in the 1980s.",
    "该国经济在20世纪80年代迅速增长。",
  ),
  translate(
    "de.en",
    "Sie wuchs in den 1980er Jahren auf und zog danach mit ihrer Familie nach Berlin.",
    "She grew up in the '80s and then moved to Berlin with her family.",
  ),
  translate(
    "en.de",
    "More than 300 people came to the meeting in the town hall.",
    "Mehr als dreihundert Menschen kamen zu der Versammlung im Rathaus.",
  ),
  translate(
    "en.it",
    "More than 300 people came to the meeting in the town hall.",
    "Più di trecento persone sono venute alla riunione in municipio.",
  ),
  translate(
    "en.de",
    "More than 5,000 people came to the meeting in the town hall.",
    "Mehr als fünftausend Menschen kamen zu der Versammlung im Rathaus.",
  ),
  translate(
    "zh.en",
    "请访问https://example.com了解更多关于我们新产品的信息。",
    "Please visit https://example.com to learn more about our new products.",
  ),
  translate(
    "ja.en",
    "詳細はhttps://example.comをご覧ください。",
    "For details, please see https://example.com.",
  ),
  translate(
    "ko.en",
    "자세한 내용은 https://example.com에서 확인하세요.",
    "Please check https://example.com for details.",
  ),
  translate("en.de", "Learn more at https://example.com/docs.", "Mehr dazu unter https://example.com/docs"),
  summarize(
    "a number that the source has in words",
    article,
    "The council limited private cars in the old centre; 300 shopkeepers announced a protest.",
  ),
  summarize(
    "a list of points",
    article,
    "- Council limits private cars in the old centre\n- Residents receive a free permit\n- Shopkeepers plan a protest",
  ),
  summarize(
    "a list with numbers",
    article,
    "1. Council approved traffic plan for old centre\n2. Shopkeepers fear to lose customers\n",
  ),
  rewrite(
    "a chat without a stop at its end",
    "Please send me the quarterly report by Friday. Thank you.",
    "hey can u send me the quarterly report by friday? thanks",
    "casual",
  ),
  rewrite(
    "a long message with a stop at its end",
    "We regret to inform you that the meeting of the committee on Thursday has been moved to next Monday, because the large hall of the library is being painted this week.",
    "Hey, sorry, but the committee meeting on Thursday got moved to next Monday, since the large hall of the library is being painted this week.",
    "casual",
  ),
  rewrite(
    "a face of signs at the end",
    "Thank you very much for the wonderful evening.",
    "thx for the awesome evening <3",
    "casual",
  ),
  rewrite(
    "numbers in words, as formal texts have them",
    "hey, 300 folks showed up at the party last nite, and about 2000 more want to come, it was wild!",
    "Three hundred guests attended the party last night, and approximately two thousand more wish to come.",
  ),
];
