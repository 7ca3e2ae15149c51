package repair

import "strings"

// kind is what a word does in a correction.
type kind uint8

const (
	unknown  kind = iota
	filler        // says nothing: please, the, yes
	use           // asks for what follows: use, I want
	change        // needs a to before the value: change, replace
	to            // stands before the value: to, with
	of            // before the value or the field: of, for; before the value that was refused also from
	from          // stands before what is not wanted: from, instead of
	deny          // never selects anything
	either        // more than one
	also          // and
	noun          // says what kind of thing a value is
	recall        // points at what was said before: fix it, as I said
	option        // stands before a position: option, number
	courtesy      // begins a request that has the form of a question: could you
	cancel        // calls it off; package reply knows the rest
)

const maxPhrase = 6 // words of a phrase, a field's name or a name of a value

// lists are the words in English, Hebrew, Portuguese, Spanish, French and German. A word that denies in any of them denies.
var lists = map[kind]string{
	filler: `the, this, that, it, its, it is, is, be, i, me, my, we, us, just, only, then, so, now, here, please, pls, plz, thanks, thx, thank you, thank you very much, yes, yep, yeah, ok, okay,
		sure, of course, right, correct, fine, good, great, perfect, works, would be, will do, sorry, actually, instead, again, back, well, oh, ah, hi, hello, hey, do, one, ones, simply, and then,
		very much, let me, looks good, that's, that is, obviously, exactly, definitely, certainly, absolutely, for me, for this, for that, for it,
		את, זה, זאת, הזה, הזאת, היא, הוא, אני, לי, פשוט, רק, אז, עכשיו, בבקשה, תודה, תודה רבה, כן, אוקיי, אוקי, בסדר, סבבה, טוב, יופי, מצוין, נכון, סליחה, בעצם, שוב, ה, ב, להיות, יהיה, שיהיה, היי, שלום, בטח, בדיוק, עדיף,
		o, os, as, isso, isto, este, esta, esse, essa, eu, me, só, so, apenas, então, agora, por favor, pf, obrigado, obrigada, muito obrigado, muito obrigada, valeu, sim, tá, ta, tá bom, está bem, beleza, certo, claro, seja, é, pode ser, desculpa, desculpe,
		de novo, mesmo, aqui, oi, olá, perfeito, ótimo, bem, meu, minha, melhor, seria, aí,
		el, la, los, las, lo, esto, eso, ese, esa, yo, solo, sólo, entonces, ahora, gracias, muchas gracias, vale, de acuerdo, es, sea, perdón, mejor, otra vez, hola, bien, mi, sí por favor,
		le, les, ce, cet, cette, ça, je, seulement, juste, alors, maintenant, svp, stp, s'il te plaît, s'il vous plaît, merci, merci beaucoup, oui, d'accord, est, c'est, ce sera, soit, désolé, pardon, encore, bonjour, bien sûr, parfait, mon, ma,
		das, der, die, den, dem, es, ich, mir, nur, einfach, dann, jetzt, bitte, danke, vielen dank, ja, gern, gerne, klar, ist, sei, sein, entschuldigung, nochmal, hallo, genau, lieber, mein, meine,
		👍, 👌, 🙏, 🙂, 😊, 😀, 😃, 😄, 😉, ✅, 🎉, ❤, 🏻, 🏼, 🏽, 🏾, 🏿, -, •, ·`,
	use: `use, using, set, put, make, make it, take, try, try again, retry, choose, pick, select, go, go for, want, i want, i want to use, would like, i'd like, i would like, id like, i need, need, give me, give, let's use, lets, let us use,
		should be, must be, has to be, needs to be, should have been, shall be, i meant, i mean, meant, i prefer, prefer, keep, enter, write, type in, run it, do it, should say, let it be, i'll take, i'll go, i choose, i pick, say, let's say,
		השתמש, השתמשי, תשתמש, תשתמשי, להשתמש, שים, שימי, תשים, תשימי, עשה, עשי, תעשה, תעשי, בחר, בחרי, תבחר, תבחרי, לבחור, קח, קחי, תקח, תיקח, תקחי, תיקחי, קבע, קבעי, תקבע, תקבעי, הגדר, הגדירי, תגדיר, תגדירי, תן, תני, תכניס, תכניסי,
		רוצה, אני רוצה, הייתי רוצה, אני צריך, אני צריכה, אני מעדיף, אני מעדיפה, צריך להיות, צריכה להיות, זה צריך להיות, התכוונתי, אני בוחר, אני בוחרת, נסה, תנסה, תנסי, נסי, נסה שוב, תנסה שוב, לך על, תלך על, נלך על,
		use, usa, usar, utilize, utiliza, utilizar, coloque, coloca, colocar, ponha, põe, pôr, bota, escolha, escolho, escolhe, escolher, quero, eu quero, queria, eu queria, gostaria, gostaria de, eu gostaria de, eu gostaria, prefiro, eu prefiro, pode usar, pode colocar, podes usar, deve ser, tem que ser, tem de ser, deveria ser, defina, define, definir, fica, fique, faça, faz, tente, tenta, tente de novo, tenta de novo, vamos de, vamos, vai de, eu quis dizer, quis dizer, preciso, eu preciso, ajuste, ajusta,
		pon, ponga, poner, ponlo, elige, elija, elijo, escoge, escojo, quiero, yo quiero, quisiera, me gustaría, prefiero, debe ser, tiene que ser, debería ser, quise decir, prueba, necesito, utilice, fija,
		utilise, utilisez, utiliser, mets, mettez, mettre, mets le, choisis, choisissez, choisir, prends, prenez, je veux, veux, je voudrais, j'aimerais, je préfère, doit être, devrait être, je voulais dire, essaie, essayez, il faut, fais, faites,
		nimm, nehmen, nehme, nehmen sie, benutze, benutzen, verwende, verwenden, verwenden sie, nutze, setze, setz, wähle, wählen, ich möchte, möchte, ich will, will, ich hätte gern, hätte gern, soll sein, sollte sein, muss sein, soll, sollte, muss, ich meinte, probier, versuch, versuche, mach, mache, ich nehme, ich brauche`,
	change: `change, change it, replace, replace it, switch, switch it, update, update it, correct it, fix, edit, modify, convert, adjust, reduce, reduce it, lower, lower it, raise, raise it, increase, increase it, decrease, decrease it,
		שנה, תשנה, תשני, לשנות, החלף, החליפי, תחליף, תחליפי, להחליף, תקן, תקני, תתקן, תתקני, עדכן, עדכני, תעדכן, תעדכני,
		mude, muda, mudar, mude isso, muda isso, troque, troca, trocar, altere, altera, alterar, corrija, corrige, corrigir, atualize, atualiza, substitua, substitui, reduza, reduz, diminua, aumente,
		cambia, cambie, cambiar, cámbialo, cámbiala, actualiza, reemplaza, sustituye, corregir,
		changez, changer, change le, remplace, remplacez, modifie, modifiez, corrigez,
		ändere, ändern, ändere es, wechsle, wechseln, ersetze, ersetzen, korrigiere, tausche`,
	to: `to, into, with, ->,
		ל, אל הערך, עם,
		para, pra, por, com, a, em,
		en, con, al, à, avec, par, zu, zum, auf, durch, mit, in`,
	of: `of, for, as, at, on, from the list, an,
		של, עבור, בשביל, בתור, כערך,
		de, do, da, como,
		del, du, pour, comme, für, als, von`,
	from: `from, instead of, rather than, in place of, מ, במקום, em vez de, ao invés de, em lugar de, en vez de, en lugar de, au lieu de, plutôt que, statt, anstatt, anstelle von`,
	deny: `not, no, nope, nah, never, none, neither, nor, nothing, cannot, can't, don't, dont, doesn't, didn't, won't, wouldn't, shouldn't, couldn't, isn't, aren't, wasn't, weren't, ain't, haven't, hasn't, without, unless, except, excluding, but, however,
		avoid, stop, remove, delete, drop, skip, hate, dislike, wrong, bad, refuse, reject, anything but, other than, different from, away from, exclude, disable, minus, non, if,
		לא, אל, בלי, ללא, חוץ, אבל, אין, אינו, אינה, אף, לעולם, בשום, הסר, תוריד, תמחק, מחק, שונא, שונאת, רע, גרוע, למעט, אסור, פרט, אלא, אם,
		não, nao, nunca, sem, nem, exceto, menos, mas, evite, evita, remova, remove, tire, tira, apague, apaga, odeio, errado, ruim, jamais, nada, nenhum, nenhuma, salvo, porém, se,
		sin, ni, excepto, pero, evita, evite, quita, elimina, borra, odio, mal, malo, tampoco, ningún, ninguno, ninguna, nada, sino,
		pas, ne, n, jamais, sans, sauf, mais, évite, évitez, enlève, supprime, déteste, mauvais, aucun, aucune, rien, plus, guère,
		nicht, kein, keine, keinen, keiner, keines, keinem, ohne, nie, niemals, außer, aber, nein, weder, noch, vermeide, entferne, lösche, hasse, falsch, schlecht, nichts, sondern, wenn, bloß`,
	either: `or, either, או, ou, ou então, oder, o bien, entweder, u`,
	also:   `and, also, plus, as well as, &, +, ו, וגם, גם, e, também, y, también, et, aussi, und, auch`,
	noun: `um, uma, un, una, une, ein, eine, einen, value, the value, ratio, proportion, format, size, color, colour, mode, type, style, resolution, quality, version, setting, parameter, field, argument, image, picture, photo, video, file, currency, country, language, priority, level, status, unit, method, category, shape, aspect,
		ערך, הערך, יחס, היחס, פורמט, הפורמט, בפורמט, ביחס, גודל, הגודל, בגודל, צבע, הצבע, בצבע, מצב, סוג, איכות, תמונה, התמונה, שדה, השדה, מטבע, עדיפות, רמה, תצוגה,
		valor, o valor, proporção, formato, tamanho, cor, modo, tipo, estilo, resolução, qualidade, versão, campo, imagem, foto, vídeo, arquivo, moeda, país, idioma, prioridade, nível,
		proporción, tamaño, color, imagen, moneda, calidad, versión, prioridad,
		valeur, la valeur, taille, couleur, qualité, champ, l'image, devise, langue, priorité, niveau, rapport,
		wert, den wert, das format, größe, farbe, modus, typ, stil, auflösung, qualität, feld, bild, währung, sprache, priorität, seitenverhältnis, verhältnis`,
	option: `option, number, choice, item, nr, אפשרות, האפשרות, מספר, את מספר, opção, a opção, número, item, opción, la opción, l'option, numéro, choix, nummer, auswahl`,
	courtesy: `can you, could you, would you, will you, can we, could we, can i have, could i have, may i have, אפשר, אפשר בבקשה, תוכל, תוכלי, אתה יכול, את יכולה,
		pode, poderia, você pode, voce pode, você poderia, podes, podia, puedes, podrías, puede, podría, peux tu, pouvez vous, tu peux, vous pouvez, pourrais tu, pourriez vous, kannst du, könntest du, können sie, könnten sie`,
	recall: `fix it, fix this, fix that, correct this, correct that, repair it, repair this, sort it out, make it right, do it right, you decide, you choose, you pick, decide yourself, your choice, up to you, you know, you know what i want, you know what i mean,
		what i said, as i said, like i said, what i told you, as i told you, like i told you, i told you, i said, i already said, i already said it, i already told you, i said it already, i asked, i asked for, what i asked, what i asked for, as i asked, as i asked for, like i asked, as requested,
		what i wanted, what i want, as i wanted, i wanted, i requested, what i requested, as before, like before, as i said before, like i said before, i said before, i mentioned, as i mentioned, what i mentioned, i wrote, what i wrote, as i wrote, my original request, original request, same as i said,
		תקן את זה, תתקן את זה, תקני את זה, תתקני את זה, תסדר את זה, תסדרי את זה, תחליט, תחליט אתה, תחליטי, תחליטי את, אתה תחליט, את תחליטי, תבחר אתה, תבחרי את, מה שאמרתי, כמו שאמרתי, מה שביקשתי, כמו שביקשתי, שביקשתי, שאמרתי, אמרתי, ביקשתי, כבר אמרתי, אמרתי כבר, מה שרציתי, שרציתי, לפי מה שאמרתי, לפי מה שביקשתי, מה שכתבתי, כמו שכתבתי, כמו קודם,
		corrija isso, corrige isso, corrija para mim, conserta, conserta isso, conserte, conserte isso, arruma, arruma isso, arrume, arrume isso, resolve isso, resolva isso, você decide, voce decide, decide você, decida você, tu decides, decide tu, escolhe você, escolha você, você escolhe, você que sabe, o que eu disse, como eu disse, o que eu pedi, como eu pedi, conforme pedi, conforme eu pedi, conforme pedido, que eu disse, que eu pedi, que pedi, eu disse, eu pedi, pedi, já disse, eu já disse, já falei, eu já falei, o que eu falei, como eu falei, que eu falei, o que pedi, como pedi, como antes, o que eu queria,
		arréglalo, corrígelo, corrige esto, arregla esto, tú decides, decide tú, tú eliges, lo que dije, como dije, lo que pedí, como pedí, que pedí, que dije, ya lo dije, ya te lo dije, dije, pedí, lo que quería, como antes,
		corrige ça, corrige le, corrigez ça, répare ça, à toi de décider, à vous de décider, tu décides, vous décidez, ce que j'ai dit, comme j'ai dit, comme je l'ai dit, ce que j'ai demandé, comme demandé, que j'ai demandé, que j'ai dit, j'ai dit, j'ai demandé, je l'ai déjà dit, comme avant, ce que je voulais,
		korrigiere das, korrigier das, korrigiere es, repariere es, repariere das, mach es richtig, mach das richtig, entscheide du, du entscheidest, entscheiden sie, was ich gesagt habe, wie gesagt, wie ich sagte, wie ich gesagt habe, was ich wollte, das ich wollte, wie gewünscht, was ich verlangt habe, ich sagte, ich wollte, wie vorher, wie zuvor`,
	cancel: `cancel, abort, forget it, ביטול, בטל, תבטל, cancelar, cancela, cancele, esquece, esqueça, cancelado, anular, annuler, annule, abbrechen, abbruch, vergiss es`,
}

// order in which a word that stands in two lists is settled: what is careful comes first.
var order = []kind{deny, cancel, either, from, recall, change, courtesy, use, option, to, of, also, filler, noun}

// words holds every word and phrase, folded, with spaces between its words.
var words = func() map[string]kind {
	all := map[string]kind{}
	for _, k := range order {
		for entry := range strings.SplitSeq(lists[k], ",") {
			if key := phraseKey(entry); key != "" && all[key] == unknown {
				all[key] = k
			}
		}
	}
	return all
}()

func phraseKey(entry string) string {
	tokens, _ := tokenize(strings.TrimSpace(entry))
	parts := make([]string, len(tokens))
	for i := range tokens {
		parts[i] = tokens[i].word
	}
	return strings.Join(parts, " ")
}

// ordinals are positions in the list of values that was shown; -1 is the last.
var ordinals = func() map[string]int {
	all := map[string]int{}
	for n, entries := range map[int]string{
		1:  "first, 1st, first one, the first one, ראשון, הראשון, ראשונה, הראשונה, את הראשון, את הראשונה, primeiro, primeira, primero, primera, primer, premier, première, 1er, erste, ersten, erstes, erster",
		2:  "second, 2nd, second one, the second one, שני, השני, שנייה, השנייה, שניה, השניה, את השני, את השנייה, segundo, segunda, deuxième, second, seconde, zweite, zweiten, zweites, zweiter",
		3:  "third, 3rd, third one, the third one, שלישי, השלישי, שלישית, השלישית, את השלישי, את השלישית, terceiro, terceira, tercero, tercera, tercer, troisième, dritte, dritten, drittes, dritter",
		4:  "fourth, 4th, fourth one, the fourth one, רביעי, הרביעי, רביעית, הרביעית, quarto, quarta, cuarto, cuarta, quatrième, vierte, vierten, viertes, vierter",
		5:  "fifth, 5th, fifth one, the fifth one, חמישי, החמישי, חמישית, החמישית, quinto, quinta, cinquième, fünfte, fünften, fünftes, fünfter",
		-1: "last, last one, the last one, אחרון, האחרון, אחרונה, האחרונה, último, última, dernier, dernière, letzte, letzten, letztes, letzter",
	} {
		for entry := range strings.SplitSeq(entries, ",") {
			all[phraseKey(entry)] = n
		}
	}
	return all
}()
