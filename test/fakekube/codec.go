package fakekube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// decode reads an object in JSON or protobuf, whichever it is.
func decode(body []byte, into runtime.Object) error {
	if len(body) == 0 {
		return apierrors.NewBadRequest("the request has no body")
	}
	_, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, into)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized: %v", err))
	}
	return nil
}

// write encodes an answer in the first media type that the request accepts.
func write(w http.ResponseWriter, r *http.Request, status int, answer any, gv schema.GroupVersion) {
	w.Header().Set("Cache-Control", "no-cache, private")
	if text, ok := answer.([]byte); ok {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(text)
		return
	}
	media, body := "application/json", &bytes.Buffer{}
	o, isObject := answer.(runtime.Object)
	var err error
	if _, ok := answer.(runtime.Unstructured); isObject && !ok {
		info := negotiate(r)
		media = info.MediaType
		// A copy: encoding sets the object's kind for a while, and others read it.
		err = scheme.Codecs.EncoderForVersion(info.Serializer, gv).Encode(o.DeepCopyObject(), body)
	} else {
		err = json.NewEncoder(body).Encode(answer)
	}
	if err != nil {
		http.Error(w, "encoding answer", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

func negotiate(r *http.Request) runtime.SerializerInfo {
	served := scheme.Codecs.SupportedMediaTypes()
	for accept := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(accept))
		if err != nil || params["as"] != "" {
			continue
		}
		if info, ok := runtime.SerializerInfoForMediaType(served, media); ok {
			return info
		}
	}
	info, _ := runtime.SerializerInfoForMediaType(served, runtime.ContentTypeJSON)
	return info
}
