package platformtest

// newcomerShare is how many of the requests born while there are newcomers come from one of them.
const newcomerShare = 0.25

// welcome lets a company that was created through POST /company buy from now on. Needs the world's lock; the list only grows, so
// those who render meanwhile read the one they found.
func (s *scene) welcome(c Company) {
	contact := person{c.Name, c.Surname, c.Email, c.Cellphone}
	joined := append(s.joined(), company{
		cnpj: c.CNPJ, cpf: c.CPF, fantasyName: contact.fullName(), contact: contact,
		address: address{
			cep: c.Address.CEP, state: c.Address.State, city: c.Address.City, neighborhood: c.Address.Neighborhood,
			street: c.Address.Patio, number: c.Address.Number, complement: c.Address.Complement,
		},
	})
	s.newcomers.Store(&joined)
}

func (s *scene) joined() []company {
	if list := s.newcomers.Load(); list != nil {
		return *list
	}
	return nil
}

// attract draws which newcomer a request that is born comes from, counted from 1; 0 is none of them.
func (s *scene) attract(i uint32) uint32 {
	joined := len(s.joined())
	if joined == 0 {
		return 0
	}
	d := throw(s.seed, streamNewcomer, uint64(i))
	if !d.chance(newcomerShare) {
		return 0
	}
	return 1 + uint32(d.below(joined))
}

// buyer is the company of a request.
func (s *scene) buyer(i uint32, r *request) company {
	if r.newcomer > 0 {
		return s.joined()[r.newcomer-1]
	}
	return s.company(s.companyNumber(i))
}
