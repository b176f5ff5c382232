package postgres

import (
	"strconv"
	"strings"
)

// conditions are joined by AND. Their texts are constants, so the number of
// different queries is bounded; "?" stands for an argument.
type conditions struct {
	texts []string
	args  []any
}

func (c *conditions) add(text string, args ...any) {
	c.texts = append(c.texts, text)
	c.args = append(c.args, args...)
}

func (c *conditions) addIf(asked bool, text string, args ...any) {
	if asked {
		c.add(text, args...)
	}
}

func (c *conditions) clone() *conditions {
	return &conditions{append([]string(nil), c.texts...), append([]any(nil), c.args...)}
}

func (c *conditions) selectFrom(text string) (string, []any) {
	if len(c.texts) > 0 {
		text += ` WHERE ` + strings.Join(c.texts, ` AND `)
	}
	return text, append([]any(nil), c.args...)
}

// numbered writes $1, $2 and so on for each "?".
func numbered(text string) string {
	var b strings.Builder
	parts := strings.Split(text, "?")
	for i, part := range parts {
		b.WriteString(part)
		if i < len(parts)-1 {
			b.WriteString("$" + strconv.Itoa(i+1))
		}
	}
	return b.String()
}
