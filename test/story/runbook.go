package story

import (
	"fmt"
	"os"
	"strings"
)

// Step is one thing that a runbook says to do: a command line, settings for the
// configuration file (YAML), or the text of the file at Path. The others are empty.
type Step struct {
	Command    string
	Settings   string
	Path, Text string
	// Fails: the page says that the command is meant to end with an error.
	Fails bool
}

// Section is one of a runbook's, with its steps in their order.
type Section struct {
	Title string
	Steps []Step
}

// Runbook reads a page in Markdown: sections are headings of the second level,
// steps the lines of blocks marked sh, blocks marked yaml, and blocks marked with a
// language and the path of a file. A command that ends in the comment "# fails" is to
// fail.
func Runbook(name string) ([]Section, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the runbook: %w", err)
	}
	var all []Section
	var block, path string // the mark of the block that is open, and the file that it names
	var inside strings.Builder
	for number, line := range strings.Split(string(text), "\n") {
		mark, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && block == "":
			block, path, _ = strings.Cut(mark, " ")
			if block == "" || block != "sh" && block != "yaml" && path == "" || len(all) == 0 {
				return nil, fmt.Errorf("reading the runbook: line %d: a block must stand in a section and be marked sh, yaml, or with a language and a file", number+1)
			}
		case fence:
			switch {
			case path != "":
				add(all, Step{Path: path, Text: inside.String()})
			case block == "yaml":
				add(all, Step{Settings: inside.String()})
			}
			inside.Reset()
			block = ""
		case block == "sh":
			command, comment, _ := strings.Cut(line, " # ")
			add(all, Step{Command: strings.TrimSpace(command), Fails: strings.TrimSpace(comment) == "fails"})
		case block != "":
			inside.WriteString(line + "\n")
		case strings.HasPrefix(line, "## "):
			all = append(all, Section{Title: strings.TrimPrefix(line, "## ")})
		}
	}
	return all, nil
}

func add(all []Section, s Step) {
	last := &all[len(all)-1]
	last.Steps = append(last.Steps, s)
}
