package rest

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"sync"
)

//go:embed examples.json
var examplesText []byte

// exampleSet is the content of examples.json.
type exampleSet struct {
	// Shown are bodies by the name of their type, or by the operation whose answer differs from others of its type.
	Shown map[string]json.RawMessage
	// Further are values by the name of a type, for properties that no body shows.
	Further map[string]json.RawMessage
	// Texts are answers in another media type, by the operation.
	Texts map[string]string
}

// examples are those of the OpenAPI document. A text that is no such JSON is a fault that every test of this package finds.
var examples = sync.OnceValue(func() (all exampleSet) {
	if err := json.Unmarshal(examplesText, &all); err != nil {
		panic(err)
	}
	return all
})

// example is an example of a body of the operation and type, in JSON; nil if there is none. A list has one item.
func example(operation string, of reflect.Type) json.RawMessage {
	if of == nil || of.Kind() != reflect.Struct {
		return nil
	}
	if text := examples().Shown[operation]; text != nil {
		return text
	}
	if items, ok := of.FieldByName("Items"); ok {
		return json.RawMessage(`{"items": [` + string(example(operation, items.Type.Elem())) + `], "nextPageToken": ""}`)
	}
	return examples().Shown[of.Name()]
}
