// Package pack reads pack.yaml, in which a platform's folder says what the vendor prints and wants typed: how a device is talked
// to (session), how its settings are lines (language), and where its counters are (counters). A pack is data: what it means
// stands with those who use a section.
package pack

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// file is the name of a pack in the folder of its platform.
const file = "pack.yaml"

// Pack is one platform's pack.yaml.
type Pack struct {
	// FilesOnly, where it is set, says why weir talks to no device of the platform: what it writes for one goes into files, and
	// a person types it. Such a pack has no section session.
	FilesOnly string `yaml:"filesOnly"`

	Session  *Session  `yaml:"session"`  // nil: the pack has none
	Language *Language `yaml:"language"` // nil: the pack has none; the platform's language is a document, and is Go
	Counters *Counters `yaml:"counters"` // nil: the pack has none
}

// Platforms are the names of the folders that hold a pack, in order.
func Platforms(packs fs.FS) ([]string, error) {
	found, err := fs.Glob(packs, "*/"+file)
	if err != nil {
		return nil, fmt.Errorf("list the packs of platforms: %w", err)
	}
	for i, name := range found {
		found[i] = path.Dir(name)
	}
	return found, nil
}

// Read decodes PLATFORM/pack.yaml whole. A key that is not known, in whatever section, is an error with its line; a section that
// is not there is none. Of a Reader it is decoded the first time.
func Read(packs fs.FS, platform string) (Pack, error) {
	if r, ok := packs.(*Reader); ok {
		return r.pack(platform)
	}
	return decode(packs, platform)
}

func decode(packs fs.FS, platform string) (Pack, error) {
	name := path.Join(platform, file)
	body, err := fs.ReadFile(packs, name)
	if err != nil {
		return Pack{}, fmt.Errorf("read the pack of platform %q: %w", platform, err)
	}
	var p Pack
	strict := yaml.NewDecoder(bytes.NewReader(body))
	strict.KnownFields(true)
	if err := strict.Decode(&p); err != nil {
		return Pack{}, fmt.Errorf("read %s: %w", name, placed(body, err))
	}
	if err := p.check(); err != nil {
		return Pack{}, fmt.Errorf("read %s: %w", name, err)
	}
	return p, nil
}

// check finds what a decoder cannot.
func (p Pack) check() error {
	if p.FilesOnly != "" && p.Session != nil {
		return errors.New("it has both filesOnly and a section session")
	}
	if p.Language != nil {
		return p.Language.check()
	}
	return nil
}

// ReadSession is the section session of a platform's pack. That it is not there is an error, which says why where the pack does.
func ReadSession(packs fs.FS, platform string) (Session, error) {
	p, err := Read(packs, platform)
	if err == nil && p.FilesOnly != "" {
		return Session{}, fmt.Errorf("platform %s is written to files only: %s", platform, p.FilesOnly)
	}
	return section(p.Session, err, platform, "session")
}

// ReadLanguage is the section language of a platform's pack. That it is not there is an error.
func ReadLanguage(packs fs.FS, platform string) (Language, error) {
	p, err := Read(packs, platform)
	return section(p.Language, err, platform, "language")
}

// ReadCounters is the section counters of a platform's pack. That it is not there is an error.
func ReadCounters(packs fs.FS, platform string) (Counters, error) {
	p, err := Read(packs, platform)
	return section(p.Counters, err, platform, "counters")
}

func section[S any](s *S, err error, platform, name string) (S, error) {
	switch {
	case err != nil:
		return *new(S), err
	case s == nil:
		return *new(S), fmt.Errorf("read %s: it has no section %s", path.Join(platform, file), name)
	}
	return *s, nil
}

// The decoder's own words, of which the first two hold a line.
var (
	lineOf     = regexp.MustCompile(`^line (\d+): (.*)$`)
	unknownKey = regexp.MustCompile(`^field (.*) not found in type .*$`)
)

// placed gives each mistake that the decoder found the section in which it stands.
func placed(body []byte, err error) error {
	var wrong *yaml.TypeError
	var top yaml.Node
	if !errors.As(err, &wrong) || yaml.Unmarshal(body, &top) != nil {
		return err
	}
	var all []error
	for _, text := range wrong.Errors {
		found := lineOf.FindStringSubmatch(text)
		if found == nil {
			all = append(all, errors.New(text))
			continue
		}
		line, _ := strconv.Atoi(found[1]) // the pattern takes nothing but digits
		all = append(all, fmt.Errorf("%sline %s: %s", sectionAt(&top, line), found[1], unknownKey.ReplaceAllString(found[2], "unknown key $1")))
	}
	return errors.Join(all...)
}

// sectionAt names the section around a line, with a colon behind it; empty for what stands outside of the sections.
func sectionAt(top *yaml.Node, line int) string {
	name := ""
	for _, root := range top.Content {
		for i := 0; i+1 < len(root.Content) && root.Content[i].Line <= line; i += 2 {
			name = ""
			if key := root.Content[i].Value; slices.Contains([]string{"session", "language", "counters"}, key) {
				name = "section " + key + ": "
			}
		}
	}
	return name
}
