//! Texts in Chinese. A family name stands first, without a space; an address goes from the province to the house.

use ::fake::locales::{Data, ZH_CN};

use super::{FakeKind, append_digits, append_email, append_pick, between, pick};
use crate::OpRng;

/// Provinces with cities of theirs; the four cities that are provinces themselves have no other name.
const CITIES: &[(&str, &[&str])] = &[
    ("", &["北京市", "上海市", "天津市", "重庆市"]),
    ("河北省", &["石家庄市", "唐山市", "保定市", "秦皇岛市"]),
    ("山西省", &["太原市", "大同市", "临汾市"]),
    ("内蒙古自治区", &["呼和浩特市", "包头市", "鄂尔多斯市"]),
    ("辽宁省", &["沈阳市", "大连市", "鞍山市"]),
    ("吉林省", &["长春市", "吉林市"]),
    ("黑龙江省", &["哈尔滨市", "齐齐哈尔市", "大庆市"]),
    ("江苏省", &["南京市", "苏州市", "无锡市", "常州市", "南通市", "徐州市"]),
    ("浙江省", &["杭州市", "宁波市", "温州市", "嘉兴市", "金华市"]),
    ("安徽省", &["合肥市", "芜湖市", "蚌埠市"]),
    ("福建省", &["福州市", "厦门市", "泉州市"]),
    ("江西省", &["南昌市", "九江市", "赣州市"]),
    ("山东省", &["济南市", "青岛市", "烟台市", "潍坊市", "临沂市"]),
    ("河南省", &["郑州市", "洛阳市", "开封市", "南阳市"]),
    ("湖北省", &["武汉市", "宜昌市", "襄阳市", "荆州市"]),
    ("湖南省", &["长沙市", "株洲市", "衡阳市", "岳阳市"]),
    ("广东省", &["广州市", "深圳市", "佛山市", "东莞市", "珠海市", "惠州市"]),
    ("广西壮族自治区", &["南宁市", "桂林市", "柳州市"]),
    ("海南省", &["海口市", "三亚市"]),
    ("四川省", &["成都市", "绵阳市", "乐山市", "宜宾市"]),
    ("贵州省", &["贵阳市", "遵义市"]),
    ("云南省", &["昆明市", "曲靖市", "丽江市"]),
    ("西藏自治区", &["拉萨市", "日喀则市"]),
    ("陕西省", &["西安市", "咸阳市", "宝鸡市", "延安市"]),
    ("甘肃省", &["兰州市", "天水市", "酒泉市"]),
    ("青海省", &["西宁市", "海东市"]),
    ("宁夏回族自治区", &["银川市", "石嘴山市"]),
    ("新疆维吾尔自治区", &["乌鲁木齐市", "克拉玛依市"]),
];
const DISTRICTS: &[&str] = &[
    "新华区",
    "和平区",
    "朝阳区",
    "城关区",
    "东城区",
    "西城区",
    "南山区",
    "江北区",
    "新城区",
    "开发区",
    "高新区",
    "鼓楼区",
    "市中区",
    "海州区",
    "青山区",
    "滨江区",
    "龙华区",
    "向阳区",
    "长安区",
    "永安区",
];
const STREETS: &[&str] = &[
    "人民", "解放", "中山", "建设", "长江", "黄河", "新华", "和平", "文化", "胜利", "光明", "友谊", "北京",
    "南京", "上海", "建国", "学院", "科技", "工业", "迎宾", "朝阳", "青年", "民主", "团结", "幸福", "花园",
    "滨河", "公园", "体育", "车站",
];
const STREET_SUFFIXES: &[&str] = &["路", "街", "大道", "东路", "西路", "南路", "北路", "巷"];
const TRADES: &[&str] = &[
    "科技",
    "网络",
    "信息技术",
    "贸易",
    "实业",
    "电子",
    "食品",
    "建筑工程",
    "物流",
    "文化传媒",
    "投资",
    "教育咨询",
    "医药",
    "机械制造",
    "能源",
    "新材料",
    "环保",
    "软件",
];
const COMPANY_FORMS: &[&str] = &["有限公司", "有限责任公司", "股份有限公司", "集团有限公司"];
/// Names as they are typed, in pinyin.
const FAMILY_PINYIN: &[&str] = &[
    "wang", "li", "zhang", "liu", "chen", "yang", "huang", "zhao", "wu", "zhou", "xu", "sun", "ma", "zhu",
    "hu", "guo", "he", "gao", "lin", "zheng", "luo", "liang", "song", "tang", "feng", "deng", "cao", "peng",
    "zeng", "xiao",
];
const GIVEN_PINYIN: &[&str] = &[
    "wei", "fang", "na", "min", "jing", "li", "qiang", "lei", "jun", "yang", "yong", "yan", "jie", "juan",
    "tao", "ming", "chao", "xia", "ping", "gang", "hui", "bo", "xin", "yu", "hao", "ting", "xue", "kai",
    "rui", "chen",
];
/// Least and most words of a sentence.
pub const SENTENCE_WORDS: (u64, u64) = (6, 12);

pub fn append(what: FakeKind, rng: &mut OpRng, out: &mut Vec<u8>) {
    match what {
        FakeKind::Name => {
            append_pick(ZH_CN::NAME_LAST_NAME, rng, out);
            append_pick(ZH_CN::NAME_FIRST_NAME, rng, out);
        }
        FakeKind::FirstName => append_pick(ZH_CN::NAME_FIRST_NAME, rng, out),
        FakeKind::LastName => append_pick(ZH_CN::NAME_LAST_NAME, rng, out),
        FakeKind::UserName => append_user(rng, out),
        FakeKind::Email => append_email(append_user, rng, out),
        FakeKind::Phone => {
            append_pick(&["13", "15", "17", "18", "19"], rng, out);
            append_digits("#########", rng, out);
        }
        FakeKind::Job => append_pick(ZH_CN::COMPANY_PROFESSION, rng, out),
        FakeKind::Company => append_company(rng, out),
        FakeKind::Industry => append_pick(ZH_CN::COMPANY_INDUSTRY, rng, out),
        FakeKind::Country => append_pick(ZH_CN::ADDRESS_COUNTRY, rng, out),
        FakeKind::State => append_province(rng, out),
        FakeKind::City => {
            let (_, city) = place(rng);
            out.extend_from_slice(city.as_bytes());
        }
        FakeKind::Street => append_street(rng, out),
        FakeKind::Postcode => append_digits("^#####", rng, out),
        FakeKind::Address => append_address(rng, out),
        FakeKind::Word => append_pick(ZH_CN::LOREM_WORD, rng, out),
        FakeKind::Sentence => append_sentence(rng, out),
        FakeKind::Paragraph => (0..between(3, 6, rng)).for_each(|_| append_sentence(rng, out)),
    }
}

/// A province and a city of it.
fn place(rng: &mut OpRng) -> (&'static str, &'static str) {
    let (province, cities) = pick(CITIES, rng);
    (province, pick(cities, rng))
}

fn append_province(rng: &mut OpRng, out: &mut Vec<u8>) {
    let (province, city) = place(rng);
    out.extend_from_slice(if province.is_empty() { city } else { province }.as_bytes());
}

fn append_user(rng: &mut OpRng, out: &mut Vec<u8>) {
    append_pick(FAMILY_PINYIN, rng, out);
    append_pick(GIVEN_PINYIN, rng, out);
    if rng.below(2) == 0 {
        append_pick(GIVEN_PINYIN, rng, out);
    }
    append_digits("###", rng, out);
}

/// Place, brand, trade and form: 武汉鼎博科技有限公司.
fn append_company(rng: &mut OpRng, out: &mut Vec<u8>) {
    let (_, city) = place(rng);
    out.extend_from_slice(city.strip_suffix('市').unwrap_or(city).as_bytes());
    append_pick(ZH_CN::NAME_FIRST_NAME, rng, out);
    append_pick(TRADES, rng, out);
    append_pick(COMPANY_FORMS, rng, out);
}

fn append_street(rng: &mut OpRng, out: &mut Vec<u8>) {
    append_pick(STREETS, rng, out);
    append_pick(STREET_SUFFIXES, rng, out);
}

fn append_address(rng: &mut OpRng, out: &mut Vec<u8>) {
    let (province, city) = place(rng);
    out.extend_from_slice(province.as_bytes());
    out.extend_from_slice(city.as_bytes());
    append_pick(DISTRICTS, rng, out);
    append_street(rng, out);
    append_digits("^##号", rng, out);
}

fn append_sentence(rng: &mut OpRng, out: &mut Vec<u8>) {
    let (least, most) = SENTENCE_WORDS;
    let words = between(least, most, rng);
    for word in 0..words {
        append_pick(ZH_CN::LOREM_WORD, rng, out);
        if word + 1 == words / 2 {
            out.extend_from_slice("，".as_bytes());
        }
    }
    out.extend_from_slice("。".as_bytes());
}

#[cfg(test)]
fn longest(list: &[&str]) -> usize {
    list.iter().map(|text| text.len()).max().unwrap_or(0)
}

/// The longest city, without and with its province.
#[cfg(test)]
fn place_bytes_max() -> (usize, usize) {
    let city = CITIES.iter().map(|(_, cities)| longest(cities)).max().unwrap_or(0);
    let both = CITIES.iter().map(|(province, cities)| province.len() + longest(cities)).max().unwrap_or(0);
    (city, both)
}

#[cfg(test)]
pub fn company_bytes_max() -> usize {
    place_bytes_max().0 + longest(ZH_CN::NAME_FIRST_NAME) + longest(TRADES) + longest(COMPANY_FORMS)
}

#[cfg(test)]
pub fn address_bytes_max() -> usize {
    place_bytes_max().1 + longest(DISTRICTS) + longest(STREETS) + longest(STREET_SUFFIXES) + "999号".len()
}
