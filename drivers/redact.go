package drivers

import (
	"regexp"
	"strings"
)

// secretShapes are what secrets look like in the configuration of devices, with the words before them kept. The words are
// those of JSON documents ("passkey": "...") and of command lines (username x secret sha512 ..., snmp-server community ...).
var secretShapes = []*regexp.Regexp{
	regexp.MustCompile(`(?i)("[^"]*(?:passw|passkey|passphrase|secret|community|auth_key|private_key)[^"]*"\s*:\s*)"[^"]*"`),
	regexp.MustCompile(`(?i)(\b(?:password|secret|community|passphrase|key-string|(?:shared|tacacs|radius)[\w-]*[ ]key|key [07])[ ]+(?:(?:sha512|sha256|md5|[0-9])[ ]+)?)[^\s"]+`),
}

const redacted = "redacted"

// Redact takes the given secrets, and what looks like a secret, out of a text.
func Redact(text string, secrets ...Secret) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, string(s), redacted)
		}
	}
	text = secretShapes[0].ReplaceAllString(text, `${1}"`+redacted+`"`)
	return secretShapes[1].ReplaceAllString(text, "${1}"+redacted)
}
