package reply

// Expected is the kind of answer a question waits for.
type Expected string

// The kinds of answers.
const (
	YesNo        Expected = "yes_no"
	SingleChoice Expected = "single_choice"
	MultiChoice  Expected = "multi_choice"
	FreeText     Expected = "free_text"
	Form         Expected = "form"
)

// Question is what the reader needs to know of the request that a reply answers.
type Question struct {
	Expected Expected

	// Options of a choice, at most MaxOptions. On a yes_no question the options whose ids are approve, yes or confirm, and
	// reject, no or deny, lend their labels to the answer.
	Options []Option

	// Fields of a form.
	Fields []Field

	// Actions says that a yes makes something happen. Then single letters and quoted words never approve.
	Actions bool

	// Languages are BCP 47 tags, best first. English always counts.
	Languages []string

	// Positive and Negative are extra words for yes and no. They never override a negation or an ambiguous word.
	Positive, Negative []string
}

// Option is one of the answers to choose from.
type Option struct {
	ID, Label string

	// Scope marks the two answers to "the whole series, or only this one?".
	Scope Scope
}

// Scope says which part of a recurring series an option stands for.
type Scope uint8

// The scopes. Most options have none.
const (
	NoScope Scope = iota
	AllOccurrences
	ThisOne
)

// Field is one field of a form.
type Field struct {
	Name     string
	Type     FieldType
	Enum     []string // the values of an Enum field
	Required bool
	Known    bool // it has a value already, so a reply may leave it out
}

// FieldType is the type of a form field's value.
type FieldType string

// The types of fields. JSON is any value, given in a JSON reply only; checking it is the schema's business.
const (
	String  FieldType = "string"
	Number  FieldType = "number"
	Integer FieldType = "integer"
	Boolean FieldType = "boolean"
	Enum    FieldType = "enum"
	JSON    FieldType = "json"
)

// Limits of what is read.
const (
	MaxOptions = 128       // options of a choice
	MaxReply   = 4 << 10   // bytes of an answer to yes_no and choices
	MaxText    = 256 << 10 // bytes of an answer to free_text and form
)
