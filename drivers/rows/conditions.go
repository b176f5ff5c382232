package rows

import (
	"slices"
	"strings"
)

// Conditions are joined by AND. "?" stands for an argument. Their texts are
// constants, so the number of different queries is bounded.
type Conditions struct {
	texts []string
	args  []any
}

// Add adds a condition.
func (c *Conditions) Add(text string, args ...any) {
	c.texts = append(c.texts, text)
	c.args = append(c.args, args...)
}

// AddIf adds a condition that a filter asks for.
func (c *Conditions) AddIf(asked bool, text string, args ...any) {
	if asked {
		c.Add(text, args...)
	}
}

// Clone returns a copy to which conditions can be added.
func (c *Conditions) Clone() *Conditions {
	return &Conditions{slices.Clone(c.texts), slices.Clone(c.args)}
}

// SelectFrom adds the conditions to a SELECT, and returns their arguments.
func (c *Conditions) SelectFrom(text string) (string, []any) {
	if len(c.texts) > 0 {
		text += ` WHERE ` + strings.Join(c.texts, ` AND `)
	}
	return text, slices.Clone(c.args)
}
