package train

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/embed/links"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
)

// validates reports whether epochs are compared by vertices or links that do not train.
func (t *sageTrainer) validates() bool {
	if t.classes == nil {
		return t.o.Links != nil && t.o.Links.Validate != nil
	}
	return len(t.split.Validate) > 0
}

// validate returns the accuracy and the mean loss of the validation vertices, or the AUC of the
// validation links and 0.
func (t *sageTrainer) validate() (quality, loss float64, err error) {
	if t.classes == nil {
		q, err := t.predict(t.o.Links.Validate)
		return q.AUC, 0, err
	}
	return t.evaluate(t.split.Validate)
}

// test measures the model on what neither trained nor validated it.
func (t *sageTrainer) test(res *SAGETraining) (err error) {
	res.Test, res.TestMRR = math.NaN(), math.NaN()
	switch {
	case t.classes != nil && len(t.split.Test) > 0:
		res.Test, _, err = t.evaluate(t.split.Test)
	case t.o.Links != nil && t.o.Links.Test != nil:
		var q links.LinkQuality
		q, err = t.predict(t.o.Links.Test)
		res.Test, res.TestMRR = q.AUC, q.MRR
	}
	return err
}

// predict scores links by the embeddings.
func (t *sageTrainer) predict(set *links.LinkSet) (links.LinkQuality, error) {
	z, err := t.embeddings()
	if err != nil {
		return links.LinkQuality{}, err
	}
	return links.MeasureLinks(neural.AsMatrix(z), set, links.MeasureOptions{Run: t.o.Run})
}
