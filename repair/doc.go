// Package repair turns what a person wrote about a call that failed for its arguments into a patch of those arguments, and never picks by mistake.
// It is pure (no I/O, no clock, no goroutines) and may import the root package, reply, tool and internal/schema.
//
// # The way of a correction
//
// [Complete] fills the fault in from the call, [Message] asks, [Read] reads the reply, [Patch.Apply] gives the new arguments and [Diff] shows what they change.
// Where Read refuses, [Again] says why and asks once more, or a model gets [Prompt]; [FromModel] checks its answer and [Confirm] shows it before it counts.
//
// # What is read
//
//   - a value that the field may have, with the words that people put around it: "1:1", "use 1:1 please", "change it to 1:1", "1:1 instead of match_input_img"
//   - its place among those that were shown: "the second one", "option 2", "2"
//   - field=value, field: value, "set width to 512 and height to 300", or a JSON object; also of other fields than the faulty one, which are named then
//   - a number for a number field, yes and no for a boolean, a date, an address or another text of a fixed form where the schema asks for that form
//   - any other text only in quotes or behind the field's name
//   - "fix it", "what I said": the newest line of the person that has exactly one allowed value, literally or by a name that the schema or the fault gives it
//     (x-aliases, titles of alternatives, "1:1 (square)" in a description)
//
// # What is not
//
// Every word of the reply must be one that belongs in a correction. What is not known could turn the meaning around ("1:1 would be awful"), so it makes the reply
// unclear; so do a negation in any of the languages, a question, a condition, an or, a unit behind a number, a verb of change without its to. A value must be a
// whole word: 1:1 is not in 11:1. No patch has a value outside the field's list, a field that was neither faulty nor named, more than [MaxFields] fields, or the
// value that was refused before.
//
// # Extending the words
//
// Add to the lists in words.go, and replies to the files in testdata/corpus, as its README says.
package repair
