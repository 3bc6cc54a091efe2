package alerts

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A redirect is no success, and is not followed: what it leads to would get a GET, and its answer
// would count as the message taken.
func TestRedirectsAreFailures(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusMultipleChoices, http.StatusFound, http.StatusTemporaryRedirect} {
		followed := make(chan string, 100)
		leads := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/login") {
				followed <- r.Method
				fmt.Fprint(w, `{"id":"1"}`)
				return
			}
			w.Header().Set("Location", "/login/"+canaryToken)
			w.WriteHeader(code)
			fmt.Fprint(w, `{"id":"1"}`)
		})
		plain, secure := httptest.NewServer(leads), httptest.NewTLSServer(leads)
		t.Cleanup(plain.Close)
		t.Cleanup(secure.Close)
		host, secureHost := strings.TrimPrefix(plain.URL, "http://"), strings.TrimPrefix(secure.URL, "https://")
		for _, address := range []string{
			"generic+http://" + host + "/" + canaryToken,
			"ntfy://" + host + "/topic?scheme=http",
			"ntfy://" + secureHost + "/topic?disabletlsverification=yes",
			"gotify://" + host + "/Aaa.bbb.ccc.ddd?disabletls=yes",
			"gotify://" + secureHost + "/Aaa.bbb.ccc.ddd?insecureskipverify=yes",
			plain.URL + "/" + canaryToken,
		} {
			ctx, cancel := context.WithTimeout(t.Context(), sendTime)
			err := post(ctx, address, ping{job: "sync"})
			if kindOf(address) != "" {
				err = send(ctx, address, "title", "text")
			}
			cancel()
			if text := fmt.Sprint(err); !strings.Contains(text, fmt.Sprintf("the answer is %d", code)) || !strings.Contains(text, "redirect") {
				t.Errorf("%d, %s: %v", code, address, err)
			} else {
				mustHoldNoSecret(t, "the error", text)
			}
		}
		if len(followed) > 0 {
			t.Errorf("%d: a %s was sent to where the redirect leads", code, <-followed)
		}
	}
}
