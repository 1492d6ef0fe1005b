import { type Honest, weather, weatherText } from "./honest.ts";

const place = (asked: string, answered: string): Honest => weather(asked, answered, "2026-03-05T09:30:00Z");

/** Places in other spellings and languages, with codes of their own countries, and reports after a name. */
export const honestPlaces: Honest[] = [
  place("Hà Nội", "Hanoi, Vietnam"),
  place("Xi'an", "Xian, China"),
  place("Xi'an", "Xi’an, CN"),
  place("Sana'a", "Sanaa"),
  place("Århus", "Aarhus, Denmark"),
  place("Goettingen", "Göttingen, DE"),
  place("Muenchen", "München"),
  place("Koeln", "Cologne, Germany"),
  place("Malmoe", "Malmö"),
  place("Luzern", "Lucerne, Switzerland"),
  place("Londres", "London, United Kingdom"),
  place("Mailand, Italien", "Milan, Italy"),
  place("Recife, Brazil", "Recife, PE, Brasil"),
  place("Milan, Italy", "Milano, MI, Lombardia, Italia"),
  place("Palermo, Italy", "Palermo, PA, Sicilia, Italia"),
  place("Chennai, India", "Chennai, TN, Bharat"),
  place("Delhi, India", "New Delhi, India"),
  place("Panama City", "Panama, PA"),
  weatherText("St. Louis MO", "It is 50°F in Saint Louis, Missouri today."),
  weatherText("München DE", "Munich has 9 °C and light rain."),
  weatherText("New York City NY", "New York has 50 °F and light rain."),
  weatherText("Quebec City", "It is −5 °C and snowing in Québec."),
  weatherText("Paris France", "It is 12 °C and cloudy in Paris today."),
  weatherText("austin tx", "Austin has 30 °C and clear skies."),
  weatherText("Frankfurt am Main DE", "Frankfurt has 9 °C and light rain."),
  weatherText("Oslo, Norway", "Oslo: SE wind 4 m/s, 9 °C, cloudy."),
  weatherText("Oslo NO", "Oslo (SE wind) has 9 °C."),
  weatherText("Paris, France", "Paris: HI 12 °C, LO 3 °C."),
  weatherText("Paris, France", "PARIS: NO RAIN, 12 °C."),
  weatherText("Paris, France", "PARIS, IT IS 12 °C TODAY."),
];
