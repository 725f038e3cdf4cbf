% Exercise 12.1 of Mitchell 1997.
good_credit_risk :- employed, low_debt.
employed :- \+ is_student.
low_debt :- \+ has_student_loan, has_savings_account.
