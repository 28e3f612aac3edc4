package pack

import (
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Pattern is a regular expression in a pack. The zero value matches nothing.
type Pattern struct{ re *regexp.Regexp }

// UnmarshalYAML compiles the pattern.
func (p *Pattern) UnmarshalYAML(node *yaml.Node) error {
	var text string
	if err := node.Decode(&text); err != nil {
		return err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %v", node.Line, err)}}
	}
	p.re = re
	return nil
}

// Regexp is the compiled pattern; nil for the zero value.
func (p Pattern) Regexp() *regexp.Regexp { return p.re }

// Match says whether the pattern occurs in the text.
func (p Pattern) Match(text string) bool { return p.re != nil && p.re.MatchString(text) }

// Find is the first occurrence of the pattern in the text, or empty.
func (p Pattern) Find(text string) string {
	if p.re == nil {
		return ""
	}
	return p.re.FindString(text)
}

// FindAny is the first occurrence of the first pattern that occurs in the text, or empty.
func FindAny(patterns []Pattern, text string) string {
	for _, p := range patterns {
		if found := p.Find(text); found != "" {
			return found
		}
	}
	return ""
}

// Groups are the named groups of the first occurrence of the pattern in the text; nil where it does not occur.
func (p Pattern) Groups(text string) map[string]string {
	if p.re == nil {
		return nil
	}
	found := p.re.FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	groups := map[string]string{}
	for i, name := range p.re.SubexpNames() {
		if name != "" {
			groups[name] = found[i]
		}
	}
	return groups
}
