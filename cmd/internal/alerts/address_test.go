package alerts

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What each service does with an answer that is no success, with one that is nonsense, and with
// none.
func TestServicesDoNotLoseMessages(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.Contains(path, "refused"):
			http.Error(w, canaryPerson, http.StatusBadGateway)
		case strings.Contains(path, "nonsense"):
			fmt.Fprint(w, "<html>")
		case strings.Contains(path, "message"):
			fmt.Fprint(w, `{"id":1}`) // of Gotify
		default:
			fmt.Fprint(w, `{"ok":true,"id":"x"}`)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	closed := httptest.NewServer(http.NotFoundHandler())
	nobody := strings.TrimPrefix(closed.URL, "http://")
	closed.Close()
	for address, taken := range map[string]bool{
		"ntfy://ops:" + canaryPassword + "@" + host + "/good?scheme=http":     true,
		"ntfy://ops:" + canaryPassword + "@" + host + "/refused?scheme=http":  false,
		"ntfy://ops:" + canaryPassword + "@" + host + "/nonsense?scheme=http": false,
		"ntfy://" + nobody + "/good?scheme=http":                              false,
		"gotify://" + host + "/A123456789abcde?disabletls=yes":                true,
		"gotify://" + host + "/refused/A123456789abcde?disabletls=yes":        false,
		"gotify://" + host + "/nonsense/A123456789abcde?disabletls=yes":       false,
		"gotify://" + nobody + "/A123456789abcde?disabletls=yes":              false,
		"generic+http://" + host + "/good":                                    true,
		"generic+http://" + host + "/refused/" + canaryToken:                  false,
		"generic+http://" + nobody + "/" + canaryToken:                        false,
		"smtp://" + nobody + "/?from=a@b.c&to=d@e.f":                          false,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := send(ctx, address, "title", "text")
		cancel()
		if (err == nil) != taken {
			t.Errorf("%s: %v", address, err)
		}
		if err != nil {
			mustHoldNoSecret(t, address, err.Error())
		}
	}

	for base, taken := range map[string]bool{server.URL: true, server.URL + "/refused": false, server.URL + "/nonsense": false, "http://" + nobody: false} {
		telegramAPI = base
		err := send(t.Context(), "telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw@telegram?chats=@ops,12:3", "title", "text")
		if (err == nil) != taken || err != nil && strings.Contains(err.Error(), "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw") {
			t.Errorf("telegram at %s: %v", base, err)
		}
	}
}

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"discord://" + canaryToken + "@123456789012345678":                            "",
		"generic+https://example.com/" + canaryToken:                                  "",
		"gotify://gotify.example.com/Aaa.bbb.ccc.ddd":                                 "",
		"ntfy://ops:" + canaryPassword + "@ntfy.sh/topic":                             "",
		"slack://hook:T00000000-B00000000-XXXXXXXXXXXXXXXXXXXXXXXX@webhook":           "",
		"smtp://ops:" + canaryPassword + "@mail.example.com:587/?from=a@b.c&to=d@e.f": "",
		"telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw@telegram?chats=@ops": "",
		"teams+https://example.webhook.office.com/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/IncomingWebhook/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05": "",
		"":                                       "want one that begins with discord://, generic://, gotify://, ntfy://, slack://, smtp://, teams://, telegram://",
		canaryToken:                              "want one that begins",
		"https://hooks.slack.com/" + canaryToken: "want one that begins",
		"logger://":                              "want one that begins",
		"slack://" + canaryToken:                 "is no address of slack",
		"slack+https://" + canaryToken:           "want slack:// in front",
		"smtp://ops:" + canaryPassword + "@h/":   "is no address of smtp",
		"ntfy://ops:" + canaryPassword + "%zz@ntfy.sh/topic": "want one that begins",
		"telegram://" + canaryToken + "@telegram":            "is no address of telegram",
	} {
		err := CheckAddress(address)
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
		if err != nil {
			mustHoldNoSecret(t, address, err.Error())
		}
	}
	for _, address := range []string{"", "hc-ping.com/" + canaryToken, "ftp://" + canaryToken, "http://:" + canaryPassword + "@"} {
		if err := CheckPing(address); err == nil {
			t.Errorf("%q is taken for an address to ping", address)
		} else {
			mustHoldNoSecret(t, address, err.Error())
		}
	}
}
