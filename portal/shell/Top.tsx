import { useState } from "preact/hooks";
import { plainText } from "../design/format.ts";
import { Icon } from "../design/Icon.tsx";
import { isOtherNode, nodeUrl } from "../node/nodeUrl.ts";
import { linkTo, type Route } from "../router/route.ts";
import { placeOf } from "./placeOf.ts";
import { nextTheme, type Theme, themeOf } from "./theme.ts";

/** The pages in the navigation bar. Pages about one thing, such as an agent or a hire, are reached by links. */
const PAGES: { page: Route["page"]; name: string; href: string }[] = [
  { page: "market", name: "Market", href: linkTo.market() },
  { page: "audits", name: "Audits", href: linkTo.audits() },
  { page: "network", name: "Network", href: linkTo.network() },
  { page: "newEscrow", name: "Escrow", href: linkTo.newEscrow() },
  { page: "verify", name: "Verify", href: linkTo.verify() },
];

/** The bar at the top: the name, the pages, and a search field. */
export function Top({ route }: { route: Route }) {
  return (
    <header class="top">
      <div class="wide">
        <a class="brand" href={linkTo.market()}>
          <Stick />
          Tallystick
        </a>
        <nav aria-label="Pages">
          {PAGES.map(({ page, name, href }) => (
            <a key={page} href={href} aria-current={route.page === page ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <Find />
        <ThemeButton />
      </div>
      {isOtherNode && (
        <p class="other-node">
          <span class="wide">
            What you read here is the word of{" "}
            <strong>{plainText(nodeUrl.replace(/^https?:\/\//, ""), 200)}</strong>, the node that this page's
            address names.
          </span>
        </p>
      )}
    </header>
  );
}

function Stick() {
  return (
    <svg
      width="22"
      height="22"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2.2"
      stroke-linecap="round"
      aria-hidden="true"
    >
      <path d="M6 4v16M10 4v16M14 4v16M18 4v16M3 17 21 7" />
    </svg>
  );
}

function Find() {
  const [isBad, setBad] = useState(false);
  const find = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = String(new FormData(form).get("text") ?? "");
    const place = placeOf(text);
    setBad(place === undefined);
    if (place === undefined) return;
    form.reset();
    location.hash = place;
  };
  return (
    <search class="finder">
      <form class="find" onSubmit={find}>
        <input
          type="search"
          name="text"
          placeholder="Address or capability"
          aria-label="An agent's address, or a capability"
          aria-invalid={isBad}
          aria-describedby={isBad ? "find-bad" : undefined}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={() => setBad(false)}
        />
        <button type="submit" class="button" aria-label="Find">
          <Icon name="search" />
        </button>
        {isBad && (
          <p id="find-bad" role="alert" class="small bad-word">
            This is no address and no capability.
          </p>
        )}
      </form>
    </search>
  );
}

const THEMES: { [theme in Theme]: string } = { auto: "as the system", light: "light", dark: "dark" };

function ThemeButton() {
  const [theme, setTheme] = useState(themeOf);
  return (
    <button
      type="button"
      class="button plain theme"
      aria-label={`Colours: ${THEMES[theme]}. Change`}
      title={`Colours: ${THEMES[theme]}`}
      onClick={() => setTheme(nextTheme(theme))}
    >
      <Icon name="theme" />
    </button>
  );
}
