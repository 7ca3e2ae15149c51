// Package reply reads what a person wrote as the answer to a question, and never says yes by mistake.
// It is pure (no I/O, no clock, no goroutines) and imports the standard library and golang.org/x/text only.
//
// # What is read
//
// [Read] takes the text and a [Question] and returns a [Reading]: a verdict, or the [Reason] why there is none. The whole
// reply must be the answer; nothing is searched for inside a longer text. "I do not approve", "3pm", "2 and make it
// recurring" and "ok but change the date" are not answers, and the question is asked again.
//
//   - yes_no: yes and no in the hinted languages and English, 👍 👎 ✅ ❌, the labels of the options, extra keywords.
//   - single_choice: a number from 1, an option's id or its label, or both ("2. Blue"), with a please or thanks.
//   - multi_choice: also "1 2", "1,3", "2-4", "1 and 3", labels between commas, all, and both (of two).
//   - free_text: anything that is not empty.
//   - form: a JSON object, lines of field=value or field: value, or the bare value of the only missing field.
//
// A cancel word ("cancel", "never mind", "ביטול") cancels every kind, free text too, unless an option has that label or the
// word stands in quotes, which makes it literal text. "cancel" beside an option "Cancel my plan" is ambiguous. A label with a
// comma or an "and" inside is understood alone; within a list it is ambiguous. So is a number that is another option's id, or
// with which another option's label begins: "2" of "2 nights" and "3 nights".
//
// # What is folded
//
// Case, width, compatibility forms, punctuation around the answer, bidi marks, invisible characters, Hebrew points, Arabic
// vowel signs and hamza seats, nuktas, dotless i, katakana and hiragana, digits of every script, skin tones. Diacritics may
// be left out but not be different. A pair of quotes, brackets or emphasis around the whole is taken off; quotes keep a yes
// from approving an action. So are harmless emoji, also by name (:+1:), and the smiles people type: yes :) 네^^ да) 好的~
//
// # What is not
//
// A question mark, a leading exclamation mark, tildes around a word, a struck-through letter, a raised digit, a bidi override,
// letters of two scripts, an emoji that is not known to be harmless: each leaves the reply without a meaning. So does a word
// that the languages in play do not agree on, and a word that is a polite no as often as a yes. A yes that ends in a comma is
// not finished, and is none.
//
// # Languages
//
// Words count only in the hinted languages and in English. The one exception: a script that one language is written in
// (Hebrew, Hangul, kana, Thai, Greek, …) is a hint by itself. A word of an unhinted language is neither a yes nor a no: a
// refusal by mistake is a mistake too. Single letters never approve where [Question.Actions] is set; they may reject.
//
// # Extending the words
//
// Edit the file of the language in words/ (its README has the rules), run go generate, and add replies to the files in
// testdata/corpus, as its README says.
package reply

//go:generate go run ./internal/cldrgen -reply .
