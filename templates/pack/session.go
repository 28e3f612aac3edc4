package pack

import "time"

// Session is how a device of the platform is talked to. What a vendor prints and wants typed is data here, so that the transports
// know no vendor.
type Session struct {
	GNMI GNMI `yaml:"gnmi"`
	SSH  SSH  `yaml:"ssh"`
}

// GNMI is how the platform's gNMI server behaves where the specification leaves room.
type GNMI struct {
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

// SSH is how the platform is talked to over SSH.
type SSH struct {
	Port       int           `yaml:"port"` // usual TCP port
	Manner     Manner        `yaml:"manner"`
	Timeout    time.Duration `yaml:"timeout"`    // of one command
	SetTimeout time.Duration `yaml:"setTimeout"` // of a commit, or of a command that changes something
	Missing    []Pattern     `yaml:"missing"`    // in a refusal: the device has no such thing, which is no error

	Marker Marker `yaml:"marker"`

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
	Environment  string    `yaml:"environment"`  // assignments that every command runs with, in a sh of its own; empty: the login's
	Denied       []Pattern `yaml:"denied"`       // in a refusal to answer: root would be answered
	Complaints   []Pattern `yaml:"complaints"`   // in what a change prints to its errors: it was refused, whatever the exit status
	Unsure       []Pattern `yaml:"unsure"`       // in a refusal: it may have taken effect; it is sent again
	Settled      []Pattern `yaml:"settled"`      // in the refusal of what was sent again: it had taken effect
}

// Marker is how a run marks the device while it changes it, so that runs of other journals keep off. {name} stands for a plain
// word that names run and journal, {text} for one line that says more, as one word of a shell.
//
// Of the shell manner the marker is that line: Claim puts it there where none stands, whole and at once, and prints what stands
// then; Read prints what stands; Remove takes exactly this one away and prints what stands then. Nothing printed and a pattern of
// Missing say that none stands.
//
// Of the terminal manner the marker is a session that is left open: Claim opens it and leaves it, the list of sessions reads it,
// and Remove aborts it. Its name is Prefix and {name}.
type Marker struct {
	Claim  []string  `yaml:"claim"` // one after another; of the shell manner one; empty: the device holds none
	Read   string    `yaml:"read"`
	Remove string    `yaml:"remove"`
	Root   bool      `yaml:"root"`   // the commands go through sudo for every user but root
	Denied []Pattern `yaml:"denied"` // the user may not do that: the device holds none
	Prefix string    `yaml:"prefix"`
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
