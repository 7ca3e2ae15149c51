package repair

import (
	"slices"
	"strings"
)

// saying is a text of the catalogue, in every language that it has.
type saying uint8

const (
	sayAsked   saying = iota // {asked}
	sayRefused               // {field}, {value}
	sayMissing               // {field}
	sayBroken                // the field is not known
	sayOther                 // {message}, of the other side
	sayValues                // {values}
	sayWhat                  // the question, of one field
	sayWhich                 // the question, of any field
	sayChanges               // before the changes that are shown
	sayNothing               // instead of a value that is not there
	saySure                  // the question behind them
	sayCount
)

// texts of one language: what a message is made of, and what to say before it is asked again, by the reason.
type catalogueTexts struct {
	language string
	says     [sayCount]string
	again    map[Reason]string
}

// catalogue holds every text that people see, English first: it is the fallback.
var catalogue = []catalogueTexts{
	{"en", [sayCount]string{
		sayAsked:   "You asked: “{asked}”",
		sayRefused: "That did not work: {field} cannot be {value}.",
		sayMissing: "That did not work: {field} is missing or cannot be what it is.",
		sayBroken:  "That did not work: the other side did not take the details.",
		sayOther:   "It says: {message}",
		sayValues:  "It can be: {values}",
		sayWhat:    "What should {field} be?",
		sayWhich:   "What should be changed? Please write field: value.",
		sayChanges: "This is how I understood you:",
		sayNothing: "(nothing)",
		saySure:    "Shall I change that and try again?",
	}, map[Reason]string{
		Empty:        "I didn't get an answer.",
		TooLong:      "That is too long for me to read as a correction. Please give only the value.",
		NotText:      "I couldn't read that as text.",
		Canceled:     "Canceled. 👍",
		Unclear:      "I'm not sure what to change, so nothing was changed. Please give only the value, or field: value.",
		Several:      "I can read that in more than one way. Please give one value.",
		NotAllowed:   "{field} cannot be that.",
		UnknownField: "There is no field {field}.",
		TooMany:      "That is too much at once. Please correct at most three fields.",
		Unchanged:    "{field} has that value already, and it was not taken.",
		NotSaid:      "I looked at what you wrote before and it does not say which value to use. Please give the value.",
	}},
	{"he", [sayCount]string{
		sayAsked:   "ביקשת: “{asked}”",
		sayRefused: "זה לא הצליח: {field} לא יכול להיות {value}.",
		sayMissing: "זה לא הצליח: {field} חסר או שאינו יכול להיות מה שהוא.",
		sayBroken:  "זה לא הצליח: הצד השני לא קיבל את הפרטים.",
		sayOther:   "ההודעה: {message}",
		sayValues:  "אפשר: {values}",
		sayWhat:    "מה צריך להיות {field}?",
		sayWhich:   "מה לשנות? נא לכתוב שדה: ערך.",
		sayChanges: "כך הבנתי אותך:",
		sayNothing: "(כלום)",
		saySure:    "לשנות את זה ולנסות שוב?",
	}, map[Reason]string{
		Empty:        "לא קיבלתי תשובה.",
		TooLong:      "התשובה ארוכה מדי. נא לכתוב רק את הערך.",
		NotText:      "לא הצלחתי לקרוא את זה כטקסט.",
		Canceled:     "ביטלתי. 👍",
		Unclear:      "לא ברור לי מה לשנות, ולכן דבר לא השתנה. נא לכתוב רק את הערך, או שדה: ערך.",
		Several:      "אפשר להבין את זה ביותר מדרך אחת. נא לכתוב ערך אחד.",
		NotAllowed:   "{field} לא יכול להיות הערך הזה.",
		UnknownField: "אין שדה בשם {field}.",
		TooMany:      "זה יותר מדי בבת אחת. נא לתקן עד שלושה שדות.",
		Unchanged:    "זה כבר הערך של {field}, והוא לא התקבל.",
		NotSaid:      "חיפשתי במה שכתבת קודם ולא מצאתי באיזה ערך להשתמש. נא לכתוב את הערך.",
	}},
	{"pt", [sayCount]string{
		sayAsked:   "Você pediu: “{asked}”",
		sayRefused: "Não deu certo: {field} não pode ser {value}.",
		sayMissing: "Não deu certo: {field} está faltando ou não pode ser o que é.",
		sayBroken:  "Não deu certo: o outro lado não aceitou os dados.",
		sayOther:   "A resposta foi: {message}",
		sayValues:  "Pode ser: {values}",
		sayWhat:    "Qual deve ser o valor de {field}?",
		sayWhich:   "O que deve mudar? Por favor, escreva campo: valor.",
		sayChanges: "Foi isto que entendi:",
		sayNothing: "(nada)",
		saySure:    "Posso mudar isso e tentar de novo?",
	}, map[Reason]string{
		Empty:        "Não recebi uma resposta.",
		TooLong:      "Isso é longo demais para eu ler como correção. Por favor, informe só o valor.",
		NotText:      "Não consegui ler isso como texto.",
		Canceled:     "Cancelado. 👍",
		Unclear:      "Não sei bem o que mudar, então nada foi mudado. Por favor, informe só o valor, ou campo: valor.",
		Several:      "Isso pode ser lido de mais de uma forma. Por favor, informe um só valor.",
		NotAllowed:   "{field} não pode ter esse valor.",
		UnknownField: "Não existe o campo {field}.",
		TooMany:      "É muita coisa de uma vez. Por favor, corrija no máximo três campos.",
		Unchanged:    "{field} já tem esse valor, e ele não foi aceito.",
		NotSaid:      "Procurei no que você escreveu antes e não achei qual valor usar. Por favor, informe o valor.",
	}},
}

// Languages are the languages of the catalogue.
func Languages() []string {
	var found []string
	for i := range catalogue {
		found = append(found, catalogue[i].language)
	}
	return found
}

// in finds the texts of a language by its BCP 47 tag.
func in(language string) *catalogueTexts {
	code := strings.ToLower(language)
	if end := strings.IndexAny(code, "-_"); end >= 0 {
		code = code[:end]
	}
	if code == "iw" {
		code = "he"
	}
	i := slices.IndexFunc(catalogue, func(c catalogueTexts) bool { return c.language == code })
	return &catalogue[max(i, 0)]
}

func (c *catalogueTexts) say(s saying, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(c.says[s])
}
