//! Phrases that ask for the past. Their syntax is described in `signal::language`; names of classes are in capitals.

use crate::analyze::signal::language::{Language, PhraseRule};

pub(crate) const ASKS_FOR_PAST: &str = "asks for the past";
pub(crate) const CONTINUES: &str = "continues";
/// Phrases that only look like it: a longer phrase hides the shorter one inside it.
const LOOKALIKE: &str = "something else";

/// Phrases in scripts without spaces.
pub(crate) const UNSEGMENTED_PHRASES: [&str; 15] = [
    "上次", "上回", "上一次", "我们之前", "我們之前", "之前我们", "之前我們", "昨天我们", "我们昨天", "前回", "この前",
    "昨日の続き", "続きから", "지난번", "저번에",
];

/// Words around these phrases that are not topics either.
pub(crate) const UNSEGMENTED_AROUND: [&str; 107] = [
    // Chinese
    "我们", "我們", "之前", "昨天", "做到", "说到", "說到", "讲到", "讲过", "进行到", "停在", "哪里", "哪裡", "哪儿", "那里",
    "继续", "繼續", "接着", "工作", "做了什么", "什么", "什麼", "为什么", "為什麼", "怎么", "怎麼", "决定", "決定", "讨论", "討論",
    "关于", "關於", "记得", "記得", "还记得", "那个", "这个", "這個", "事情", "地方", "会话", "对话", "對話", "一样", "一樣",
    "按照", "时候", "時候", "的问题", "的部分", // Japanese
    "昨日", "続き", "お願いします", "お願い", "どこまで", "どこ", "どうした", "どう", "したっけ", "っけ", "やりました", "やった",
    "やって", "進みました", "進んだ", "終わった", "しました", "ました", "した", "でした", "ですか", "教えて", "ください", "下さい",
    "から", "まで", "作業", "の件", "について", "覚えて", "いますか", "決めた", "決め", "なぜ", "再開", "続けて",
    "同じように", // Korean
    "지난번에", "저번", "어제", "어디까지", "어디", "했었지", "했더라", "했는지", "했지", "했나", "했죠", "했어", "하던", "우리가",
    "우리", "작업", "계속", "이어서", "해줘", "주세요",
];
/// Particles to strip from the start and the end of a topic.
pub(crate) const LEADING_PARTICLES: &[char] = &['的', '了', '把', '在', 'の', 'を', 'は', 'が', 'で', 'に', 'と', 'も', 'へ'];
pub(crate) const TRAILING_PARTICLES: &[char] = &[
    '的', '了', '吗', '嗎', '呢', '吧', 'の', 'を', 'は', 'が', 'で', 'に', 'と', 'も', 'か', 'へ', 'ね', 'よ', '을', '를', '은',
    '는', '의', '에',
];

pub(crate) static PHRASES: Language = Language {
    numbers: &[],
    supposing: &[],
    announcing: &[],
    classes: &[
        ("US", &["we", "i", "you and i"]),
        (
            "LEFT",
            &["leave off", "left off", "leave it", "left it", "leave things", "left things", "stop", "stopped", "get to", "got to"],
        ),
        ("ON", &["on", "with", "at", "in", "regarding", "now", "today"]),
        (
            "SETTLE",
            &[
                "decide", "agree", "conclude", "choose", "pick", "settle on", "settle", "say", "discuss", "talk about", "learn",
                "find out", "find", "figure out", "try", "change", "end up", "plan", "do about", "do for", "do to", "do with",
                "do last", "do yesterday", "do when", "do before", "do the last",
            ],
        ),
        (
            "SETTLED",
            &[
                "decided", "agreed", "concluded", "chosen", "chose", "picked", "settled on", "discussed", "talked about", "tried",
                "learned", "learnt", "figured out", "found out", "planned", "ended up",
            ],
        ),
        ("DOING", &["doing", "working on", "up to", "trying to", "looking at", "building", "debugging"]),
        ("RECENTLY", &["yesterday", "last week", "last time", "last month", "the other day", "last friday", "last monday"]),
        ("SESSION", &["session", "conversation", "chat", "discussion"]),
        (
            "WORK",
            &[
                "work", "task", "job", "refactoring", "refactor", "migration", "implementation", "session", "conversation",
                "discussion", "project",
            ],
        ),
        ("HIDDEN", &["get", "see", "need to", "have to", "receive"]),
    ],
    rules: &[
        PhraseRule {
            name: ASKS_FOR_PAST,
            kind: None,
            importance: 0.0,
            phrases: &[
                "where did {US} {LEFT}", "where {US} {LEFT}", "where {US} had {LEFT}", "where had {US} {LEFT}", "where you {LEFT}",
                "where did you {LEFT}", "where did things {LEFT}", "where things {LEFT}", "left off last", "where was i {ON}",
                "where was i $", "where were we $", "where are we $", "where were we {ON}", "where are we {ON}",
                "where we are {ON}", "where do we stand", "where we stand", "where things stand", "where do things stand",
                "what did {US} {SETTLE}", "what did you {SETTLE} ~ {RECENTLY}", "what {US} {SETTLED}", "what have {US} {SETTLED}",
                "what had {US} {SETTLED}", "what {US} had {SETTLED}", "what was decided", "what was agreed",
                "what was the decision", "what was the reason", "what were the reasons", "what was our", "what were our",
                "what was {US} {DOING}", "what were {US} {DOING}", "what {US} were {DOING}", "what {US} was {DOING}",
                "what have we done", "what did we do $", "what did {US} ~ {RECENTLY}", "approach {US} {SETTLED}",
                "{US} {SETTLED} ~ {RECENTLY}", "we ~ {RECENTLY}", "{RECENTLY} we", "why did we", "why have we", "why had we",
                "how did we", "when did we", "which ~ did we", "which did we", "who decided", "did we already", "did we ever",
                "did we {SETTLE}", "did we fix", "did we finish", "did we solve", "have we already", "have we ever",
                "have we {SETTLED}", "didn't we", "haven't we", "as last time", "like last time", "same as last time",
                "since last time", "from last time", "last time {US}", "the last time {US}", "last time you", "than last time",
                "was last time", "did last time", "as we discussed", "as we agreed", "as we decided", "as we did", "as we planned",
                "as we said", "like we did", "like we discussed", "the way we did", "the same way we", "how we did",
                "we talked about", "we discussed", "we agreed", "we decided", "do you remember", "remember when we",
                "remember how we", "remember what we", "remember why we", "remember that we", "do you recall", "can you recall",
                "remind me what", "remind me where", "remind me why", "remind me how", "remind me which", "remind me of",
                "our last {SESSION}", "our previous {SESSION}", "our earlier {SESSION}", "in the last {SESSION}",
                "in the previous {SESSION}", "in an earlier {SESSION}", "in earlier sessions", "in previous sessions",
                "from the last {SESSION}", "from the previous {SESSION}", "from our last", "last {SESSION} {US}",
                "last {SESSION} you", "previous {SESSION} {US}", "pick up where", "picking up where", "continue where",
                "resume where", "start where we", "back to where we", // German
                "wo waren wir", "wo war ich", "wo standen wir", "wo stehen wir", "wo sind wir ~ stehengeblieben",
                "stehen geblieben", "stehengeblieben", "wo wir aufgehört", "wo haben wir aufgehört", "wo hatten wir aufgehört",
                "was haben wir", "was hatten wir", "was habe ich gestern", "warum haben wir", "warum hatten wir",
                "wieso haben wir", "weshalb haben wir", "wie haben wir", "wie hatten wir", "wann haben wir", "welche ~ haben wir",
                "welchen ~ haben wir", "welches ~ haben wir", "hatten wir nicht", "haben wir nicht schon", "haben wir schon",
                "haben wir bereits", "hatten wir schon", "letztes mal", "letzten mal", "letzte mal", "wie gestern", "wir gestern",
                "gestern haben wir", "letzte woche haben wir", "letzte woche wir", "weißt du noch", "weisst du noch",
                "erinnerst du dich", "in der letzten sitzung", "letzte sitzung", "wie besprochen", "wie beschlossen",
                "wir besprochen", "wir beschlossen", "wir entschieden", "wurde beschlossen", "haben wir uns entschieden",
                // French
                "où en étions-nous", "où en était-on", "où en sommes-nous", "où en est-on", "où nous en étions", "où on en était",
                "où nous sommes-nous arrêtés", "où on s'est arrêté", "qu'avons-nous", "qu'est-ce qu'on avait", "qu'avait-on",
                "pourquoi avons-nous", "pourquoi a-t-on", "comment avons-nous", "avons-nous déjà", "la dernière fois",
                "la session précédente", "dernière session", "tu te souviens", "te souviens-tu", "comme convenu",
                "on avait décidé", "nous avions décidé", "nous avons décidé", "rappelle-moi ce que nous",
                // Spanish
                "dónde nos quedamos", "donde nos quedamos", "dónde estábamos", "donde estábamos", "dónde lo dejamos",
                "donde lo dejamos", "en qué quedamos", "qué decidimos", "que decidimos", "qué habíamos", "qué hicimos",
                "por qué decidimos", "por qué elegimos", "por qué hicimos", "cómo hicimos", "la última vez", "la sesión anterior",
                "última sesión", "te acuerdas", "recuerdas", // Portuguese
                "onde paramos", "onde estávamos", "onde ficamos", "o que decidimos", "o que fizemos", "por que decidimos",
                "por que escolhemos", "da última vez", "a última vez", "sessão anterior", "última sessão", "você lembra",
                "lembra-se", // Italian
                "dove eravamo", "dove siamo rimasti", "dove ci siamo fermati", "cosa abbiamo deciso", "che cosa abbiamo",
                "perché abbiamo", "come abbiamo", "l'ultima volta", "ultima sessione", "sessione precedente", "ti ricordi",
            ],
        },
        PhraseRule {
            name: CONTINUES,
            kind: None,
            importance: 0.0,
            phrases: &[
                "^ continue $", "^ please continue $", "^ continue with", "^ continue on", "^ continue working", "^ continue our",
                "^ continue the {WORK}", "^ continue this {WORK}", "^ continue my", "^ please continue with",
                "^ please continue the {WORK}", "^ please continue", "let's continue", "let us continue", "^ ok continue",
                "^ ok , continue", "^ resume work", "^ resume our", "^ resume the {WORK}", "^ resume working", "^ keep working on",
                "^ keep going", "^ carry on", "^ go on with", "^ go on $", "let's resume", "let's get back to", "^ back to the",
                "^ pick up the", "what is still open $", "what's still open $", "what is left to do $", "what's left to do $",
                "what remains to be done $", // German
                "was ist noch offen $", "was ist noch zu tun $", "^ weiter $", "^ weiter mit", "^ weiter geht's", "weiter geht es",
                "^ mach weiter", "^ machen wir weiter", "lass uns weitermachen", "^ weitermachen", "^ arbeite weiter",
                "^ mache weiter", "^ bitte weiter", "^ fortsetzen", // French
                "^ continue avec", "^ continue sur", "continuons", "^ reprends", "^ reprenons", "^ on continue",
                // Spanish, Portuguese, Italian
                "^ continúa", "^ continua", "^ sigue con", "sigamos con", "continuemos", "^ seguir com", "^ vamos continuar",
                "^ continue com", "^ continuiamo", "^ riprendiamo", "^ vai avanti", "^ 继续", "^ 繼續", "^ 続けて", "^ 계속",
            ],
        },
        PhraseRule {
            name: LOOKALIKE,
            kind: None,
            importance: 0.0,
            phrases: &[
                "why did we {HIDDEN}", "how did we {HIDDEN}", "when did we {HIDDEN}", "^ was haben wir hier", "was haben wir da",
                "wie haben wir vor", "remember to", "we agreed to disagree", "we ~ last time the", "once we decided",
                "if we decided", "until we decided", "when we decided", "if we agreed",
            ],
        },
    ],
};
