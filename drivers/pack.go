package drivers

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"time"

	"go.yaml.in/yaml/v3"
)

// Pack is the session section of a platform's pack.yaml: how a device of that platform is talked to. What a vendor
// prints and wants typed is data here, so that the transports know no vendor.
type Pack struct {
	GNMI GNMIPack `yaml:"gnmi"`
	SSH  SSHPack  `yaml:"ssh"`
}

// GNMIPack is how the platform's gNMI server behaves where the specification leaves room.
type GNMIPack struct {
	Port            int           `yaml:"port"`            // usual TCP port
	Encoding        string        `yaml:"encoding"`        // the only one to use; empty: negotiated from Capabilities
	CommitConfirmed bool          `yaml:"commitConfirmed"` // servers rarely list the extension, so the pack says it
	SetTimeout      time.Duration `yaml:"setTimeout"`      // how long one Set may take
	Refusals        []Refusal     `yaml:"refusals"`        // answers that say nothing was written although their code does not
}

// Refusal recognises an answer to a Set after which nothing is written on the device.
type Refusal struct {
	Code string  `yaml:"code"` // a gRPC code's name: Unknown
	Text Pattern `yaml:"text"`
}

// Manner is how commands travel over SSH.
type Manner string

// The manners.
const (
	Shell    Manner = "shell"    // each command on its own exec channel, with an exit status
	Terminal Manner = "terminal" // one terminal, whose prompts are read
)

// SSHPack is how the platform is talked to over SSH.
type SSHPack struct {
	Port       int           `yaml:"port"` // usual TCP port
	Manner     Manner        `yaml:"manner"`
	Timeout    time.Duration `yaml:"timeout"`    // of one command
	SetTimeout time.Duration `yaml:"setTimeout"` // of a commit, or of a command that changes something
	Missing    []Pattern     `yaml:"missing"`    // in a refusal: the device has no such thing, which is no error

	// Of the terminal manner.
	Host     string    `yaml:"host"`     // pattern of the host name in the prompt
	Prompt   string    `yaml:"prompt"`   // pattern of the whole prompt; {host} stands for the host name
	Levels   Levels    `yaml:"levels"`   // where in the device a prompt is
	Enable   Enable    `yaml:"enable"`   // from the user level to the privileged one
	Open     []string  `yaml:"open"`     // commands after login
	Failures []Pattern `yaml:"failures"` // in an answer: the device refused
	Session  Verbs     `yaml:"session"`

	// Of the shell manner.
	Root         bool      `yaml:"root"`         // changes need root: they go through sudo for every other user
	SudoAsks     []Pattern `yaml:"sudoAsks"`     // sudo refused because it wants a password
	MissingExits []int     `yaml:"missingExits"` // exit statuses that say there is no such thing
	QuietExits   []int     `yaml:"quietExits"`   // the same, only where the command printed nothing at all
}

// Levels are patterns of a prompt.
type Levels struct {
	User          Pattern `yaml:"user"`
	Privileged    Pattern `yaml:"privileged"`
	Configuration Pattern `yaml:"configuration"`
}

// Enable is the command that raises the level, and the question it may ask before.
type Enable struct {
	Command string  `yaml:"command"`
	Asks    Pattern `yaml:"asks"`
}

// Verbs are the words of configuration sessions. {name} stands for the session, {time} for HH:MM:SS.
type Verbs struct {
	List    string `yaml:"list"`    // all sessions, as JSON: sessions.NAME.state, and commitTimerSessionName where the device has it
	Open    string `yaml:"open"`    // from the privileged level
	Diff    string `yaml:"diff"`    // inside: what would change, in the device's own words
	Commit  string `yaml:"commit"`  // inside
	Timer   string `yaml:"timer"`   // inside: commit, and undo at the end of the timer
	Abort   string `yaml:"abort"`   // inside
	Confirm string `yaml:"confirm"` // from the privileged level
	Cancel  string `yaml:"cancel"`  // from the privileged level
	Ours    string `yaml:"ours"`    // prefix of the names of weir's sessions
	Pending string `yaml:"pending"` // state of a session that was opened and neither committed nor aborted
	Timed   string `yaml:"timed"`   // state of a session whose commit waits for its confirmation
}

// Pattern is a regular expression in a pack. The zero value matches nothing.
type Pattern struct{ re *regexp.Regexp }

// UnmarshalText compiles the pattern.
func (p *Pattern) UnmarshalText(text []byte) error {
	re, err := regexp.Compile(string(text))
	if err != nil {
		return err
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

// ReadPack decodes the session section of PLATFORM/pack.yaml. Other sections belong to other readers.
func ReadPack(packs fs.FS, platform string) (Pack, error) {
	name := platform + "/pack.yaml"
	body, err := fs.ReadFile(packs, name)
	if err != nil {
		return Pack{}, fmt.Errorf("read how to talk to platform %q: %w", platform, err)
	}
	var sections map[string]yaml.Node
	if err := yaml.Unmarshal(body, &sections); err != nil {
		return Pack{}, fmt.Errorf("read %s: %w", name, err)
	}
	section, ok := sections["session"]
	if !ok {
		return Pack{}, fmt.Errorf("read %s: it has no section session", name)
	}
	// A node forgets that its decoder was strict, so the section is decoded from text of its own.
	text, err := yaml.Marshal(&section)
	if err != nil {
		return Pack{}, fmt.Errorf("read %s: %w", name, err)
	}
	var p Pack
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&p); err != nil {
		return Pack{}, fmt.Errorf("read section session of %s: %w", name, err)
	}
	return p, nil
}
