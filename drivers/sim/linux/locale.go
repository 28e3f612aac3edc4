package linux

import (
	"cmp"
	"strings"
)

// translations are glibc's messages in Japanese, as a host with LANG=ja_JP.UTF-8 has them.
var translations = map[words]string{
	errNotFound:    "そのようなファイルやディレクトリはありません",
	errDenied:      "許可がありません",
	errForbidden:   "許可されていない操作です",
	errNoDevice:    "そのようなデバイスはありません",
	errUnsupported: "サポートされていない操作です",
	errInvalid:     "無効な引数です",
	errExists:      "ファイルが存在します",
}

// translated is what a program says in the language of its environment: LC_ALL counts before LC_MESSAGES, and that before LANG.
func (e environment) translated(text string) string {
	if language := cmp.Or(e["LC_ALL"], e["LC_MESSAGES"], e["LANG"]); !strings.HasPrefix(language, "ja") {
		return text
	}
	for english, japanese := range translations {
		text = strings.ReplaceAll(text, string(english), japanese)
	}
	return text
}
